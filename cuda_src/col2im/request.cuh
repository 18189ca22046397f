// What to do with a result: nothing, write it, or add it to what is there.
#pragma once

enum Request { NOTHING, WRITE, ADD };

template <int REQUEST, typename T, typename Acc>
__device__ void assign(T &element, Acc value)
{
    if (REQUEST == WRITE) element = T(value);
    if (REQUEST == ADD) element = T(Acc(element) + value);
}
