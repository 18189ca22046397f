/* How much each block of a profiled launch does (waves.c). */
#ifndef SOFTGPU_WAVES_H
#define SOFTGPU_WAVES_H

#include <stdint.h>

void waves_begin(uint64_t blocks);
void waves_note(uint64_t block, uint32_t work);

#endif
