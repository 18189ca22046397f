"""The words of verdicts and predictions, in English: a phrase for each code (softgpu/phrases.py).

The judges' own sentences, which are an exercise's content, stand in exercises/*/judge.py; those on
a prediction in notebooks/predictions."""

from enum import StrEnum, unique

from softgpu.phrases import Phrase, Said

__all__ = ["Answer", "Counter", "Kind", "Next", "Part", "Refusal", "Shown", "counter"]


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
    SHARED = "bytes of shared memory per block"
    BARRIERS = "barriers of warps"
    LDL_SECTORS = "sectors loaded from local memory"
    STL_SECTORS = "sectors stored to local memory"
    BLOCKS = "blocks"
    HMMA = "products by tensor cores"
    EXPOSED = "bytes of boxes that arrive while no other box is read"


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
    OTHER_BITS = "{launch}: the bits change if blocks run in another order"
    WENT_ON = "{launch}: a block continued before the others had arrived"
    COUNT = "{what} {value:,}, ours {best:,}"
    COUNT_AT_MOST = "{what} {value:,}, ours {best:,}, {most:,} at most"
    AT_MOST = "{what} {value:,}, {most:,} at most"
    AT_LEAST = "{what} {value:,}, {least:,} at least"
    IDEA = "{what} {value:,}: too few for the idea of this exercise"
    ONE_BLOCK = "one of {blocks} blocks does {share:.0%} of all instructions"
    ONE_WARP = "one warp does {times:.2g} times the instructions of an average warp of its block"
    COMPILED_HAS = "the compiled kernel has {what}"
    COMPILED_LACKS = "the compiled kernel lacks something that the exercise requires"
    TEXT_LACKS = "the text lacks something that the exercise requires"
    PATH_SKIPS = "a path through the compiled kernel skips something that the exercise requires"
    NO_MEANWHILE = "no path through the compiled kernel keeps one of them under way meanwhile"
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
    CUDA_ALONE = "Give only the kernel's CUDA text, without %%kernel and Python."
    LESS_SHARED = "Use less shared memory."
    LESS_OF_IT = "Use less of it."
    SHOWN_SO_FAR = "Use only features that the course has shown so far."
    USE_PRINTF = "std::cout doesn't work in a kernel: print with printf(...)."
    TYPE_FIRST = "Declare a variable with its type where it first appears: int {name} = ..."
    ONE_ELEMENT = (
        "An array's name is an address: use one element, x[i], or *out if there is only one."
    )
    NO_POWERS = "C has no **: multiply."
    ATOMIC_ADDRESS = "An atomic's first argument is an address: out + k, or &out[k]."
    SEMICOLON = "A ; is missing, often at the end of the line before."
    PARENTHESES = "C needs parentheses: if (...), while (...), for (int i = 0; i < n; ++i)."
    ADD_X = "threadIdx, blockIdx, blockDim and gridDim have three numbers each: add .x."
    READ_ONLY = "What is const can only be read: store the result in another array."
    RETURNS_NOTHING = "A kernel is void, and returns nothing: store the result in an array."
    SQUARE_BRACKETS = "An element is in square brackets: x[i]."
    NO_MEMBERS = "In C, arrays and numbers have no methods or attributes."
    WRITE_TIMES = "Write the * of a product: 2 * x."
    DECLARE_ONCE = "It has been declared above: leave out the type to assign to it."
    COMMENT = "A comment begins with //."
    IN_C = "{name} is Python. In C: {c}."
    MEANT = "Do you mean {name}?"
    DECLARE = "Nothing here is called {name}: is it a parameter, or a variable declared above?"
    INCLUDE_NAMES = "Include headers by name: CUDA's, C++'s and cuda_src's *.cuh."
    SAY_TYPE = "Declare the type of the numbers before the kernel: using T = float;"
    WRITE_T = "The notebook compiles it with T = {type}, too: write T(0), and T for float."
    CHOOSE = "Choose a number that a launch allows."
    SAY_CHOICE = "Declare it before the kernel: constexpr int {name} = 1;"
    NO_SLEEP = "Use barriers to make threads wait for each other: sleep does not order them."
    KEEP_OPERATOR = "Keep the line: the judge puts other operators there."
    KEEP_CHOICE = "Keep the line: the judge puts another number there."
    CHOSEN_OTHERWISE = "The judge has set {what}: what in your kernel must follow it?"
    USE_OPERATOR = "Use the operator in every step: the judge has replaced Sum with another one."
    # a launch
    KEEP_PARAMETERS = "Keep the stub's parameters: the judge passes arguments for these."
    SEE_LINE = "Look at the line that it names."
    ENDLESS = "Does every loop end, and is it run only by the threads that must run it?"
    ONLY_READ = "Don't write to inputs."
    BOUNDS = "Which threads have no element? Let them do nothing."
    HAS_IT_WORK = (
        "Does this thread have work to do here? If not, let it do nothing. If so, its index is "
        "wrong: work the index out by hand for this thread."
    )
    HOLDS_GARBAGE = "It holds garbage before the launch: write to it without reading it first."
    NOTHING_TO_DO = "Or does this thread have nothing to do here?"
    FIRST_READ = (
        "The read before the first atomicCAS must be atomic, too: through a volatile pointer, or by"
        " atomicAdd(…, 0)."
    )
    ANY_GRID = (
        "Only this grid fails: take the numbers of blocks and threads from gridDim and blockDim."
    )
    WIDE = "Indices beyond 2,147,483,647 need 64 bits, in intermediate results too: use long long."
    LARGER = (
        "All smaller launches are right. What is too small for this size: a loop, an array, or the "
        "range of a type, such as 32,767 or the digits of a half?"
    )
    WHOLE = (
        "A short can't count beyond 32,767, nor a float one by one beyond 16,777,216: can your "
        "type hold every whole number up to n?"
    )
    REPEATABLE = "Don't let a sum depend on which thread comes first: always add in the same order."
    NO_WAY_OUT = (
        "Only the flag may end the wait: a thread that continues after a number of tries, or after "
        "some time, may read data that isn't there yet."
    )
    # wrong values
    ROUNDED = "Nearly exact enough: in which type, and in which order, do you add?"
    ROUNDED_FAR = (
        "This method's own rounding is smaller: do your steps follow the exercise, each in a "
        "type that can hold its numbers? If two numbers nearly cancel, few digits remain."
    )
    EVERY_BIT = "Every bit counts here: -0 is not 0."
    NAN_LOST = (
        "A NaN must come out if one goes in, or if 0 · ∞ occurs: where do fmaxf, a comparison or "
        "an `if` drop it?"
    )
    NO_ELEMENTS = "There are no elements here: what must the result be then?"
    NOT_WRITTEN = "No block has written these elements."
    UNTOUCHED = "These elements still hold the judge's fill value, a NaN: no thread wrote them."
    SOME_UNTOUCHED = (
        "{count} of these elements, such as {place}, still hold the judge's fill value, a NaN: no "
        "thread wrote them. Which thread should, and where did it write instead?"
    )
    LEFT_OUT = (
        "The input {expected} is lost, and there is 0 instead: which thread should take it, in "
        "which turn of its loop? Or does a comparison begin with 0?"
    )
    NO_INPUT = "{expected} is one of the inputs, but {got} isn't: which line brought it in?"
    NO_INPUT_NOR_PADDING = (
        "{expected} is one of the inputs, or the padding, but {got} is neither: which line brought "
        "it in?"
    )
    WHOLE_NUMBERS = "Your results are whole numbers: which of your variables can't hold fractions?"
    HALVES = "Your results have no more digits than a half: which of your variables is a half?"
    FLUSHED = (
        "Floats below 2⁻¹²⁶ are numbers, too, subnormal ones: which instruction (`.ftz`, or one"
        " that is fast, not exact) takes them for 0?"
    )
    BY_HAND = "Work it out by hand, on paper, with the smallest size that fails."
    NOT_BY_HAND = (
        "Is it wrong with few elements, too? Then work these out by hand. If not, what is new at "
        "this size?"
    )
    # ... and what they have in common
    DIGITS = (
        "All are close, but not close enough: digits are lost. Which variable's type has too few, "
        "or which part of a number is left out?"
    )
    ZERO = (
        "Every wrong element is 0: nothing was stored or added there, or it was multiplied by 0. "
        "Does its thread reach that line, and with which factor?"
    )
    TINY = (
        "Every wrong element is 0 and should be a number smaller than {limit}; no right one is "
        "that small. Where is a small number lost?"
    )
    ALIKE = "Every wrong element is {value}: which line limits them to it, or starts from it?"
    SHOULD_BE = (
        "Every wrong element should be {value}: which line ensures that, and for which elements?"
    )
    NEGATIVE = "Every wrong element has the wrong sign: what is subtracted from what?"
    TIMES = (
        "Every wrong element is {times} times what it should be: what is multiplied, divided or "
        "added that often?"
    )
    TIMES_IN_ROW = (
        "Within each row, all elements are wrong by the same factor, {times} in row {row}. So the "
        "number by which the whole row is multiplied or divided is wrong: does it come from all of "
        "this row?"
    )
    BOOLS = (
        "{true} should be false and are true, {false} should be true and are false: work element "
        "{place} out by hand."
    )
    OFF = "Every wrong element is {off} too {way}: where does the sum, or the count, begin?"
    TOO_FAR = "Every wrong element is {off} too far from 0: what is added to both signs alike?"
    TOO_NEAR = "Every wrong element is {off} too near to 0: what is cut off from both signs alike?"
    OFF_IN_ROW = (
        "Within each row, all elements are off by the same number, {off} in row {row}. So the "
        "number that is subtracted from the whole row is wrong: does it come from all of this row?"
    )
    POWER = "Their logarithms are {times} times what they should be: which power is that?"
    NUMBER = "That number is {which}."
    KEPT = "Every wrong element still has its old value: which thread should have written it?"
    KEEPS = "Element {place} should keep the value it had: which thread writes there?"
    ON_TOP = "The old value is missing from every wrong element: add to it."
    NOT_ON_TOP = "The old value is still in every wrong element: overwrite it."
    MOVED = (
        "Element {place} has the value that belongs to element {source}, and so on for every wrong "
        "element: which index is that?"
    )
    ROWS_ALIKE = "Each {what} has the same numbers: which index should depend on the {what}?"
    TURNED = "The order is reversed."
    ROWS_AND_COLUMNS = "Rows and columns are exchanged."
    WRAPPED = "Every wrong element is off by a multiple of {size}: which variable has {bits} bits?"
    HELD = (
        "Only elements made from numbers that {kind} cannot hold are wrong: which variable, "
        "conversion or function has that type?"
    )
    UNUSED = "The compiled kernel never reads {names}: where does the result depend on it?"
    AMONG = (
        "Every wrong element has an element of input {number} too {way}, such as {value} in "
        "element {place}: which line adds that?"
    )
    ADDED = (
        "What is added is {times} times what it should be: how many threads add, and how many "
        "should?"
    )
    IS_RULE = "Every wrong element is {rule}: is that what the exercise requires?"
    TAKES = (
        "Element {place} took [{wrong}] of input {number} instead of [{right}]: how does your "
        "kernel find out which one belongs to it?"
    )
    IN_SUM = "In the sum for element {place}, {part}: which thread should take it, in which turn?"
    CHOSEN = (
        "It should be input {number}[{right}] = {expected}, and yours is [{wrong}] = {got}: does "
        "any thread see the first, and how does your line compare these two?"
    )
    TERMS = "Each sum has {depth} terms. {how}: {which}. Which turn of the loop is that?"
    OPERAND = (
        "It is a product of other matrices: in the {which} one, element {right} is used as element "
        "{wrong}."
    )
    SAME_OPERAND = (
        "It is a product of input {number} with itself: which line should read the other input?"
    )
    COUNTED_IN = (
        "It counts {off} too {way}, exactly as many as {which}: what does the comparison return "
        "for these?"
    )
    BEYOND = (
        "Exactly the elements for which {what} is {beyond} {limit} are wrong: what does your line "
        "lose of such a large, or small, number?"
    )
    ONE = "Only {where} is wrong, and all of it: what is different there?"
    SEVERAL = "Only {where} are wrong, and all of them: what is different there?"
    ZEROS_AT = "In {where}, everything is 0: which line should store or add there?"
    LACKS = (
        "Every wrong element lacks {times}input {number}[{place}], for example element {first}: "
        "which line reads that input?"
    )
    HAS_MORE = (
        "Every wrong element has too much of {times}input {number}[{place}], for example element "
        "{first}: which line reads that input?"
    )
    IS_LN_2 = "That number is ln 2: powers of 2 are not powers of e."
    IS_LOG2_E = "That number is log₂ e."
    MAGNITUDE = "the magnitude of {what}"
    FIRST_BEYOND = (
        "In {what}, {name} is {value}, more than in any right launch ({most} at most). What ends "
        "in between: a loop, an array, the range of a type, such as 32,767, a tile, a block? Or "
        "what is needed for the first time?"
    )
    COMPUTED = (
        "All inputs are finite, but your kernel computed NaN from them: by a variable without a "
        "value, 0 / 0 where nothing was counted, ∞ − ∞, ∞ / ∞ or 0 · ∞ after an overflow, or a "
        "negative number's root."
    )
    COMPUTED_FROM_INFINITY = (
        "An input is infinite, and your kernel computed NaN from it: 0 · ∞, or ∞ − ∞. Leave "
        "elements out by a condition, not by a factor of 0."
    )
    COMPUTED_FROM_NAN = (
        "No NaN belongs there: does a line read an input that is NaN and isn't this element's? Or "
        "does it compute ∞ − ∞ or ∞ / ∞? Leave elements out by a condition: 0 · ∞ and 0 · NaN are "
        "NaN."
    )
    # counters
    BANKS = "xray.draw_banks shows which lanes use the same bank."
    ATOMICS = "Let each thread, or each block, combine more before its atomic."
    LOCAL = (
        "An array is in local memory if the compiler does not know its indices: unroll its loops."
    )
    LINES = "xray.profile shows the instructions line by line."
    BARRIERS = "Which of the barriers has nothing to protect?"
    MOST_ARE_OF = "Most of these come from {line}: {text}"
    APART = (
        "A sector has 32 bytes: let all lanes of a warp access neighbours at once. A lane that is "
        "alone, or far from the next, takes a sector for itself."
    )
    GAPS = (
        "Lanes skip parts of sectors that another access then takes: use one wider access for "
        "adjacent data, such as float2 or float4, or let lanes take neighbours."
    )
    OFTEN = (
        "Lanes take neighbours, as they should, but use more sectors than necessary: let all lanes "
        "of a warp take part, and fetch nothing twice."
    )
    AGAIN = (
        "Most elements are fetched again and again: fetch each once, into a register or into "
        "shared memory, and hand it on."
    )
    STORED_AGAIN = "Most elements are stored several times: let one thread store each, once."
    IN_PIECES = (
        "A thread accesses adjacent data piece by piece: use one wider access, such as a float4 of "
        "16 bytes. Or let lanes access neighbours."
    )
    BRANCHES = "Both branches store: choose the value first, and store once."
    NO_ATOMICS = "No atomic is needed here: load and store."
    IDLE = "Most lanes idle here: let all lanes of a warp share the work."
    IDLE_WARPS = (
        "The other warps wait for it, with nothing under way: let all warps share the work."
    )
    MORE_TURNS = (
        "All of this is {times} times ours: your loop makes that many more turns. Where does this "
        "block's share of the work begin and end?"
    )
    NAMED_HERE = "In your headers, {function}() executes {instruction}."
    FEWER = "The banks are not the cause: most lanes idle here, or the same data is read again."
    LESS_AT_A_TIME = "How much of it does a block need at a time?"
    ALONE = "Which elements belong to this block, and which to another?"
    FEW_BLOCKS = "Let more blocks share the work: a GPU has more than a hundred multiprocessors."
    # the clock
    PLAIN = (
        "Use ordinary loads and stores: the clock cannot predict how long threads wait for each "
        "other."
    )
    FEWER_REGISTERS = (
        "A block's threads share 65,536 registers, and yours takes {registers} in each thread: "
        "__launch_bounds__({threads}) has the compiler use fewer. Or give a block fewer threads."
    )
    SECOND_BLOCK = (
        "A multiprocessor has room for only one block, so nothing else runs while it waits at a "
        "barrier. Two blocks fit with {most} registers: __launch_bounds__({threads}, 2) requests "
        "that from the compiler."
    )


class Part(Phrase):
    """What fills the blanks of advice: which way, which terms of a sum, which elements."""

    MUCH = "much"
    LITTLE = "little"
    MANY = "many"
    FEW = "few"
    ABOVE = "above"
    BELOW = "below"
    FIRST = "first"
    SECOND = "second"
    INPUT = "input {number}"
    ARGUMENT = "argument {number}"
    EXPECTED = "the expected value"
    BITS = "{bits} bits"
    FLOAT = "a float"
    NANS = "there are NaNs in input {number}"
    EQUALS = "there are elements of input {number} equal to argument {at}"
    # the terms of a sum
    NO_SIGNS = "the signs are lost"
    FIRST_FOR_ALL = "the first is taken for all"
    NO_LAST = "the last is left out"
    NO_FIRST = "the first is left out"
    WITHOUT_ONE = "number {number} of every {size} is left out"
    ONE = "only number {number} of every {size} is included"
    REPEATED = "the first stands for the first {size}, the next for the next {size}"
    ONE_FOR_ALL = "only number {number} of every {size} is included, {size} times"
    SOME = "only the first {few} of every {size} are included"
    SOME_TWICE = "only the first {few} of every {size} are included, twice"
    NO_END = "everything from number {number:,} on is left out"
    NO_BEGINNING = "everything before number {number:,} is left out"
    END_TWICE = "everything from number {number:,} on is added twice"
    BEGINNING_TWICE = "everything before number {number:,} is added twice"
    TERM = "number {first}"
    TERMS = "numbers {first} to {last}"
    SCATTERED = "{count} of them, the first being number {first}"
    LEFT_OUT = "Left out"
    COUNTED = "Counted {times} times"
    WEIGHTED = "Counted with the wrong weights"
    # places
    ELEMENT = "element"
    ELEMENTS = "elements"
    ROW = "row"
    ROWS = "rows"
    COLUMN = "column"
    COLUMNS = "columns"
    UNIT = "unit"
    UNITS = "units"
    INDEX = "index {axis} ="
    AT = "{axis} {first:,}"
    LAST_AT = "{axis} {first:,} (the last)"
    STRETCH = "{axis} {first:,} to {last:,}"
    TO_END = "{axis} {first:,} to the end"
    REMAINDER = "{axis} whose number % {size} is {rest}"
    # fragments of tensor cores
    SHOULD_BE = "What should be {which}."
    USED_AS = "{name}[{right}] is used as {name}[{wrong}]"


class Answer(Phrase):
    """What is said of a prediction."""

    NONE = "No prediction was made: write yours after `answer =`, and run both cells again."
    GIVE_UP = 'Then you see the measured result. To give up, write `answer = "show"`.'
    TEXT = "An answer is a number, without quotes or a unit: `answer = 7`, or `answer = (7, 8)`."
    RIGHT = "Right."
    WRONG = "Not so."
    RESULT = "{result}."
    AS_PREDICTED = "{result}, as you predicted."
    COMPARED = "{result}; you predicted {answer}{distance}."
    AWAY = ", {number} away"
    FOLD_HIGH = ", too high by a factor of {number}"
    FOLD_LOW = ", too low by a factor of {number}"
    PERCENT_HIGH = ", {number}% too high"
    PERCENT_LOW = ", {number}% too low"
