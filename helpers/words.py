"""The words of verdicts and predictions, in English: a phrase for each code (softgpu/phrases.py).

The judges' own sentences, which are an exercise's content, stand in exercises/*/judge.py; those on
a prediction in notebooks/predictions."""

from enum import StrEnum, unique

from softgpu.phrases import Phrase, Said

__all__ = ["Answer", "Counter", "Kind", "Next", "Refusal", "Shown", "counter"]


@unique
class Kind(StrEnum):
    """What refuses a kernel."""

    COMPILER = "compiler"
    NAME = "name"
    INCLUDE = "include"
    MODULE = "module"
    PARAMETERS = "parameters"
    SANITIZER = "sanitizer"
    TIME = "time"
    LAUNCH = "launch"
    BOUNDS = "bounds"
    INPUTS = "inputs"
    READS = "reads"
    VALUES = "values"
    BITS = "bits"
    COUNTERS = "counters"
    CLOCK = "clock"
    INSTRUCTIONS = "instructions"
    TEXT = "text"
    OPERATOR = "operator"
    CHOICE = "choice"


class Counter(Phrase):
    """What is counted of a launch, by xray's names with _ for the dot."""

    INSTRUCTIONS = "instructions of warps"
    LD_SECTORS = "sectors loaded"
    LD_REQUESTS = "requests to load"
    ST_SECTORS = "sectors stored"
    ST_REQUESTS = "requests to store"
    RED_SECTORS = "sectors of atomics"
    RED_REQUESTS = "atomics of warps"
    ATOM_SECTORS = "sectors of atomics that return a value"
    ATOM_REQUESTS = "atomics of warps that return a value"
    ATOMICS = "atomics of warps, both kinds"
    ATOMICS_SECTORS = "sectors of atomics, both kinds"
    LD_BYTES = "bytes a thread loads at a time"
    ST_BYTES = "bytes a thread stores at a time"
    SHUFFLES = "shuffles of warps"
    VOTES = "votes of warps"
    LDS_WAVEFRONTS = "wavefronts from shared memory"
    STS_WAVEFRONTS = "wavefronts to shared memory"
    LDS_CONFLICTS = "bank conflicts of loads"
    STS_CONFLICTS = "bank conflicts of stores"
    ATOMS_REQUESTS = "atomics on shared memory"
    ATOMS_WAVEFRONTS = "wavefronts of atomics on shared memory"
    SHARED = "bytes of shared memory of a block"
    BARRIERS = "barriers of warps"
    LDL_SECTORS = "sectors loaded of local memory"
    STL_SECTORS = "sectors stored to local memory"
    BLOCKS = "blocks"
    HMMA = "products by tensor cores"
    EXPOSED = "bytes of boxes that come while no other is read"


def counter(key: str) -> Said:
    """The words for a counter, such as "ld.sectors"."""
    return Counter[key.replace(".", "_").upper()]()


class Shown(Phrase):
    """What a verdict says around its reasons."""

    OPEN = "open"
    NOT_YET = "not yet"
    DONE = "done"
    WRITE = "Write your lines into the cell above, run it, and run this one again"
    RIGHT = "right and clean"
    LAUNCHES = "of {launches} launches, seed {seed}"
    OURS = "ours {best:,}"
    REASON = "{kind}: {text}"
    NEXT = "Next: {advice}"
    PREDICTED = "predicted: {times}"
    AT_SIZE = (
        "at {size}: yours {yours}, ours {ours}, at the speed of memory {memory}, all predicted"
    )
    SPEEDS_AT = "at {size}: {speeds}"
    SPEEDS = "yours {yours:.1f}, ours {ours:.1f} TFLOP/s, predicted; {others}, on a real H200"
    ROOM = "{registers} registers, {blocks} blocks of {threads} threads on a multiprocessor"
    ROOM_FOR_ONE = "{registers} registers, 1 block of {threads} threads on a multiprocessor"
    HEADING = "{launch}: grid {grid}, block {block}"
    HEADING_SHARED = "{launch}: grid {grid}, block {block}, {shared} bytes of shared memory"
    SMALLEST = "the smallest launch that fails like this: {launch}"
    FIRST = "element {place}: got {got}, expected {expected}"
    FIRST_FROM = "element {place}: from {inputs}, got {got}, expected {expected}"
    SCORE = "Score: {score}."
    EXERCISES = "{done} of {total} exercises done"
    EXERCISES_AND_PREDICTIONS = (
        "{done} of {total} exercises done, {right} of {made} predictions right at once"
    )


class Refusal(Phrase):
    """Why a kernel is refused: a reason's text, after its kind."""

    FOUND = "{launch}: {finding}"
    ENDLESS = "{launch}: it ran longer than {seconds:g} s"
    FAILED = "{launch}: {why}"
    BECAUSE = "{why}"
    OUTSIDE = "{launch}: {name}: {why}"
    CHANGED = "{launch}: {name} has changed"
    WRITTEN_TO = "{launch}: {name} is written to"
    READS = "{launch}: block 0 reads {name}[{at:,}]"
    ELEMENT = "{launch}: {element}: got {got}, expected {expected}"
    ELEMENT_WITHIN = "{launch}: {element}: got {got}, expected {expected} within {within:.3g}"
    ELEMENTS = (
        "{launch}: {element}: got {got}, expected {expected}; {count:,} of {size:,} elements are "
        "wrong"
    )
    ELEMENTS_WITHIN = (
        "{launch}: {element}: got {got}, expected {expected} within {within:.3g}; {count:,} of "
        "{size:,} elements are wrong"
    )
    ROUNDING = (
        "{launch}: {element}: off by rounding: {units} units in the last place, {most} allowed"
    )
    ONE = "{launch}: {name} is wrong"
    SEVERAL = "{launch}: {count:,} of {size:,} elements of {name} are wrong"
    OTHER_BITS = "{launch}: with blocks in another order it leaves other bits"
    WENT_ON = "{launch}: a block has gone on although the others had not come yet"
    COUNT = "{what} {value:,}, ours {best:,}"
    COUNT_AT_MOST = "{what} {value:,}, ours {best:,}, {most:,} at most"
    AT_MOST = "{what} {value:,}, {most:,} at most"
    AT_LEAST = "{what} {value:,}, {least:,} at least"
    IDEA = "{what} {value:,}: the idea of this exercise takes more of them"
    ONE_BLOCK = "one of {blocks} blocks does {share:.0%} of all instructions"
    ONE_WARP = "one warp does {times:.2g} times the instructions of an average warp of its block"
    COMPILED_HAS = "the compiled kernel has {what}"
    COMPILED_LACKS = "what is asked for is not in the compiled kernel"
    TEXT_LACKS = "something that is asked for is not in it"
    PATH_SKIPS = "some path through the compiled kernel skips what is asked for"
    NO_MEANWHILE = "no path through the compiled kernel has one of them under way meanwhile"
    NO_OPERATOR = "its text has no line `using Op = ...;`"
    SLOW = "{speeds}; {least} at least; {room}"
    LONG = "predicted {yours}, ours {ours}; {most} times ours at most"
    NO_PREDICTION = "no prediction: {why}"
    INCLUDES = "the text names {what}"
    INCLUDES_NOTHING = "the text names no header"
    NO_TYPE = "no type T"
    FOR_TYPE = "as T = {type}: {why}"
    CHOSEN = "{name} is {number:,}"
    NO_CHOICE = "no choice of {name}"


class Next(Phrase):
    """What to look at next: a reason's advice."""

    # the text and its compiler
    CALL_IT = 'Call it "{name}".'
    CALL_ONE = 'Call just one "{name}".'
    CALL_AND_RUN = 'Call the kernel "{name}", run its cell again, and then this one.'
    FIX_AND_RUN = "Fix it, run its cell again, and then this one."
    FIX_FIRST = "Fix the first mistake and judge again."
    CUDA_ALONE = "This is not CUDA alone: give the kernel's text, without %%kernel and Python."
    LESS_SHARED = "Use less shared memory."
    LESS_OF_IT = "Use less of it."
    SHOWN_SO_FAR = "Use what the course has shown so far."
    USE_PRINTF = "A kernel has no std::cout: printf(...) prints from a kernel."
    TYPE_FIRST = "C wants a type where a name appears first: int {name} = ..."
    ONE_ELEMENT = (
        "The name of an array is an address: name one element, x[i], or *out for the only one."
    )
    NO_POWERS = "C has no **: multiply."
    ATOMIC_ADDRESS = "An atomic takes an address first: out + k, or &out[k]."
    SEMICOLON = "A ; is missing, often at the end of the line before."
    INCLUDE_NAMES = "Include headers by name: CUDA's, C++'s and cuda_src's *.cuh."
    SAY_TYPE = "Say what the numbers are before the kernel: using T = float;"
    WRITE_T = "The notebook compiles it with T = {type}, too: write T(0), and T for float."
    CHOOSE = "Choose a number that a launch can have."
    SAY_CHOICE = "Say it before the kernel: constexpr int {name} = 1;"
    NO_SLEEP = "Threads wait for each other at barriers: sleep does not order them."
    KEEP_OPERATOR = "Keep the line: the judge puts other operators there."
    KEEP_CHOICE = "Keep the line: the judge puts another number there."
    CHOSEN_OTHERWISE = "The judge has put {what} there."
    USE_OPERATOR = (
        "Let the operator do it, in every step: the judge has put another in place of Sum."
    )
    # a launch
    KEEP_PARAMETERS = "Keep the parameters of the stub: the judge passes what it declares."
    SEE_LINE = "Look at the line that it names."
    ENDLESS = "Does each loop come to an end, and do only those threads run it that must?"
    ONLY_READ = "Inputs are only to be read."
    BOUNDS = "Which threads have no element? Let them do nothing."
    HAS_IT_WORK = (
        "Has this thread work to do here? If not, let it do nothing. If it has, its index is wrong:"
        " work that out by hand for this thread."
    )
    HOLDS_GARBAGE = "It holds garbage before the launch: write it, without reading it."
    NOTHING_TO_DO = "Or has this thread nothing to do here?"
    FIRST_READ = (
        "The read before the first atomicCAS must be atomic, too: through a volatile pointer, or by"
        " atomicAdd(…, 0)."
    )
    ANY_GRID = (
        "Only this grid fails: ask gridDim and blockDim for the numbers of blocks and threads."
    )
    WIDE = "Places beyond 2,147,483,647 need 64 bits, also on the way: say long long."
    LARGER = (
        "All smaller launches are right. What ends before this size: a loop, an array, or what a "
        "type holds, such as 32,767 or the digits of a half?"
    )
    WHOLE = (
        "No short counts beyond 32,767, and no float one by one beyond 16,777,216: does the type "
        "have every whole number up to n?"
    )
    REPEATABLE = "Let no sum depend on who comes first: add in an order that is always the same."
    NO_WAY_OUT = (
        "The flag alone may end the wait: who goes on after so many turns, or so much time, reads "
        "what may not be there."
    )
    # wrong values
    ROUNDED = "Nearly as exact as it must be: in which type, and in which order, do you add up?"
    ROUNDED_FAR = (
        "That is more than this method rounds: are its steps those that are asked for, each in a "
        "type that holds its numbers? What is left of two that nearly cancel has few digits."
    )
    EVERY_BIT = "Every bit counts here: -0 is not 0."
    NAN_LOST = "A NaN that goes in must come out: where do fmaxf, a comparison or an `if` drop it?"
    NO_ELEMENTS = "There are no elements here: what must the result be then?"
    NOT_WRITTEN = "No block has written these elements."
    UNTOUCHED = "These elements still hold the judge's fill value, a NaN: no thread wrote them."
    COMPUTED = (
        "Your kernel computed NaN: 0 / 0, ∞ − ∞, 0 · ∞, the root of a negative number, or from a "
        "NaN."
    )
    LEFT_OUT = (
        "The {expected} that goes in is lost: which thread, in which turn of its loop, takes it?"
    )
    NO_INPUT = "{expected} is one of the inputs, and {got} is none: which line brought it in?"
    NO_INPUT_NOR_PADDING = (
        "{expected} is one of the inputs, or the padding, and {got} is none: which line brought it "
        "in?"
    )
    NEARLY = (
        "Nearly right. Either an element is left out, or digits are lost: is a large number "
        "subtracted from one that is nearly the same?"
    )
    WHOLE_NUMBERS = "Your results are whole numbers: which of your variables holds no fractions?"
    HALVES = "Your results have no more digits than a half has: which of your variables is one?"
    AS_OFTEN = (
        "What is added is {times} times what it should be: how many threads add, and how many "
        "should?"
    )
    BY_HAND = "Work it out by hand, on paper, with the smallest size that fails."
    NOT_BY_HAND = (
        "Is it wrong with few elements, too? Follow these by hand. If not: what is new at this "
        "size?"
    )
    NONE_RIGHT = "No element is right: try one by hand, on paper, with the smallest size."
    ONLY_FIRST = "Only element 0 is right: do the others begin where their own data begin?"
    RIGHT_UP_TO = "All is right up to element {first} and wrong from there on: what ends there?"
    FOLLOW_ONE = "Few elements are right: follow one that is wrong, and work it out by hand."
    SOME_RIGHT = "Some elements are right: what do the wrong ones have in common?"
    # counters
    BANKS = "xray.draw_banks draws which lanes want the same bank."
    ATOMICS = "Let a thread, or a block, put more together before its atomic."
    LOCAL = (
        "An array whose indices the compiler does not know lies in local memory: unroll its loops."
    )
    LINES = "xray.profile shows the instructions line by line."
    BARRIERS = "Which of the barriers has nothing to protect?"
    MOST_ARE_OF = "Most of these are of {line}: {text}"
    APART = (
        "A sector has 32 bytes: let all lanes of a warp take neighbours at once. A lane alone, or "
        "far from the next, takes a sector for itself."
    )
    GAPS = (
        "Lanes leave out what another access takes, of the same sectors: take what lies together "
        "by one wider access, such as float2 or float4, or let lanes take neighbours."
    )
    OFTEN = (
        "Lanes take neighbours, as they should, but in more sectors than needed: let all lanes of a"
        " warp take part, and none take again what was fetched before."
    )
    AGAIN = (
        "Most elements are fetched again and again: fetch each once, into a register or into "
        "shared memory, and hand it on."
    )
    STORED_AGAIN = "Most elements are stored several times: let one thread store each, once."
    STORED_IN_PIECES = (
        "A thread stores what lies together piece by piece: one wider store does it, such as a "
        "float4 of 16 bytes. Or let lanes take neighbours."
    )
    BRANCHES = "Both branches store: choose the value first, and store once."
    NO_ATOMICS = "No atomic is needed here: load and store."
    IDLE = "Most lanes idle here: let all lanes of a warp share the work."
    IDLE_WARPS = "The others wait for it, with nothing under way: let all warps share the work."
    NAMED_HERE = "In your headers, {function}() executes {instruction}."
    FEWER = "It is not the banks: most lanes idle here, or the same is read again."
    LESS_AT_A_TIME = "What of it does a block need at a time?"
    ALONE = "Which elements are this block's, and which another's?"
    FEW_BLOCKS = "Let more blocks share the work: a GPU has more than a hundred multiprocessors."
    # the clock
    PLAIN = (
        "Use ordinary loads and stores: the clock cannot foresee how long threads wait for each "
        "other."
    )
    SECOND_BLOCK = (
        "A multiprocessor has room for one block, which waits at each barrier with nothing beside "
        "it. Two fit with {most} registers: __launch_bounds__({threads}, 2) asks the compiler."
    )


class Answer(Phrase):
    """What is said of a prediction."""

    NONE = "No prediction was made: write yours after `answer =`, and run both cells again."
    GIVE_UP = 'What was measured shows then. To give up, write `answer = "show"`.'
    RIGHT = "Right."
    WRONG = "Not so."
    RESULT = "{result}."
    AS_PREDICTED = "{result}, as you predicted."
    COMPARED = "{result}; you predicted {answer}{distance}."
    AWAY = ", {number} away"
    FOLD_HIGH = ", {number}-fold too high"
    FOLD_LOW = ", {number}-fold too low"
    PERCENT_HIGH = ", {number}% too high"
    PERCENT_LOW = ", {number}% too low"
