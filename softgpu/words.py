"""The words of findings and faults, in English: a phrase for each code (phrases.py).

What the driver says of a fault stands in driver/run/fault_words.h."""

from __future__ import annotations

from enum import StrEnum, unique

from .phrases import Phrase

__all__ = [
    "Advice", "Does", "FindingKind", "Happened", "Place", "Predicted", "Report", "Thread",
    "Unpredicted",
]  # fmt: skip


@unique
class FindingKind(StrEnum):
    """What a finding is: the header's kinds, and what ended the launch. The value is its name."""

    OUT_OF_BOUNDS = "out of bounds"
    MISALIGNED = "misaligned"
    UNINITIALISED = "uninitialised read"
    RACE = "race"
    MISSING_SYNCWARP = "missing __syncwarp"
    DOUBLE_WRITE = "double write"
    DIVERGENT_BARRIER = "divergent barrier"
    INACTIVE_SHUFFLE = "inactive shuffle"
    STALE_READ = "stale read"
    MISSING_PROXY_FENCE = "missing proxy fence"
    UNFINISHED_PRODUCT = "unfinished wgmma"
    MISSING_PRODUCT_FENCE = "missing wgmma fence"
    UNFINISHED_COPY = "unfinished copy"
    FAULT = "fault"


class Report(Phrase):
    """Around a finding."""

    HEAD = "{kind}: {where}: {message}{times}"
    TIMES = " ({count} times)"
    CLEAN = "kernel {kernel}: nothing found"
    FOUND_ONE = "kernel {kernel}: 1 finding"
    FOUND = "kernel {kernel}: {count} findings"
    MORE = "{dropped} more findings are not shown"
    LOST = "The launch has too many blocks and waits to find all races: sanitize a smaller one."


class Predicted(Phrase):
    """What the clock says of a launch."""

    NONE = "no prediction: {why}"
    LIMITED = (
        "on {chip}, not measured; limited by {first} ({most} alone), then by {second} ({less})"
    )
    UNCHECKED = (
        "on {chip}, not measured, of a kind that nobody has checked; limited by {first} ({most}"
        " alone), then by {second} ({less})"
    )


class Unpredicted(Phrase):
    """Why the clock makes no prediction."""

    NO_ROOM = "a multiprocessor has no room for one of its blocks: a GPU does not launch it"
    NO_MEMORY = "there was no memory for the caches"
    ORDER = "blocks wait for each other, or for who comes last"
    LOADS = "volatile or atomic loads may wait for what other blocks store"
    SLEEPS = "it sleeps"
    COPIES = "nobody has measured bulk copies on {chip}"
    INSTRUCTIONS = "nobody has measured {names} on {chip}"


class Does(Phrase):
    """What a thread does at a place."""

    READS = "reads"
    WRITES = "writes"
    UPDATES = "updates"


class Thread(Phrase):
    OF_BLOCK = "thread ({thread}) of block ({block})"
    ALONE = "thread ({thread})"


class Place(Phrase):
    """Where in memory, and in the source."""

    BYTE = "byte {number}"
    STRETCH = "bytes {first} to {last}"
    THESE = "bytes {numbers}"
    BYTE_OF = "{what}, byte {byte}"
    BYTES = "{count} bytes"
    ONE_BYTE = "{count} byte"
    ARGUMENT = "argument {number}"
    NAMED_ARGUMENT = "argument {number} ({name})"
    FROM_MALLOC = "a block of {bytes} bytes from malloc"
    VARIABLE = "variable {name}"
    ALLOCATION = "an allocation of {bytes} bytes"
    ADDRESS = "address {address:#x}"
    NOWHERE = "no memory that is allocated"
    LOCAL = "local memory byte {byte}"
    OTHER_SHARED = "the shared memory of another block of its cluster, byte {byte}"
    SHARED = "shared memory byte {byte}"
    SHARED_OF = "shared memory of {name}, byte {byte}"
    ELEMENT = "{place} ({element})"
    BEFORE = "{place} ({far} before the beginning)"
    ONE_PAST = "{place} (one past the end of {end})"
    PAST = "{place} ({far} past the end of {end})"
    REACHES_PAST = "{place} ({bytes} from there reach past the end of {end})"
    THIS_LINE = "this line"
    LINE = "line {number}"
    CALLED_AT = "{line}, called at {caller}"
    UNKNOWN_LINE = "an unknown line"


class Happened(Phrase):
    """What happened: a finding's message."""

    AT = "{thread} {does} {bytes} at {place}"
    FREED = "{what}, in memory that has been freed"
    OTHER_DEVICE = "{what}, in memory of another device, without peer access to it"
    CONSTANT = "{what}, which is constant memory"
    NOT_IN_HEAP = "{what}, where malloc's heap has no block"
    NOT_BEGUN = "{what}, which may not have started yet"
    RETURNED = "{what}, which belongs to a function that has returned"
    WRONG_ARRAY = "{what}, which is in another array"
    MISALIGNED = "{what}, which is not a multiple of {bytes}"
    ALIGNED_BY_LUCK = "{what}, which is a multiple of {bytes} only by luck"
    UNWRITTEN = "{what}, which nothing has written"
    UNWRITTEN_PART = "{what}, {bytes} of which nothing has written"
    NO_VALUE = "{thread} uses a variable here, which has no value yet"
    NO_VALUE_FOR = (
        "{thread} uses a variable here, and needs the result at {line}, which has no value yet"
    )
    TWO_SIDES = "{thread} {does} {place}, which {other} {other_does} at {line}"
    RACE = "{what}: which comes first is left to chance"
    SYNCWARP = "{what}: lanes of one warp need not run in step"
    DOUBLE_WRITE = "{what}, with another value: either may remain"
    STALE = "{what}: the value that was read may be an old one"
    COPYING = (
        "{thread} {does} {place}, to which {other} copies asynchronously at {line}: the copy may "
        "still be under way"
    )
    BULK_READING = (
        "{thread} {does} {place}, which the bulk copy of {line} reads: it may still be under way"
    )
    BULK_WRITING = (
        "{thread} {does} {place}, to which the bulk copy of {line} writes: it may still be under "
        "way"
    )
    MULTIPLYING = (
        "{thread} {does} {place}, which the wgmma at {line} reads: it may still be under way"
    )
    ENDS_READING = (
        "block ({block}) ends while the bulk copy that {thread} began here may read from its "
        "shared memory"
    )
    ENDS_WRITING = (
        "block ({block}) ends while the bulk copy that {thread} began here may write to its "
        "shared memory"
    )
    NO_FENCE_AT_FIRST = "{thread} executes no wgmma.fence before its first wgmma, which is here"
    NO_FENCE_SINCE = (
        "{thread} executes no wgmma.fence between this wgmma and {line}, which writes its registers"
    )
    HIDDEN = (
        "the bulk copy that {thread} begins signals {place}, an mbarrier that {other} initialised "
        "at {line}: copies need not see that yet"
    )
    UNPROXIED = (
        "{thread} reads {place} by {reader}, which {other} stored at {line}: {reader} reads "
        "through the asynchronous proxy, which need not see ordinary stores"
    )
    UNFINISHED = "{thread} {does} a register of the wgmma at {line}, which may still be under way"
    EXITED = (
        "{thread} waits here, but {lanes} threads, the first of them ({other}), have passed by or "
        "returned"
    )
    TWO_LINES = "{thread} waits here while thread ({other}) waits at {line}"
    SKIPPED = (
        "{thread} waits here, but {lanes} threads of its warp, the first of them ({other}), pass by"
    )
    WARP_DISAGREES = "{thread} executes this without thread ({other}) of its warp"
    READS_NO_THREAD = "{thread} reads the value of a lane that has no thread"
    READS_RETURNED = "{thread} reads the value of thread ({other}), which has returned"
    READS_ABSENT = "{thread} reads the value of thread ({other}), which does not take part"
    NOT_NAMED = "{thread} takes part in {what}, whose mask does not name it"
    ABSENT = "{thread} is named in the mask of {what} but does not get here"
    SYNCWARP_ITSELF = "this __syncwarp"
    SHUFFLE_ITSELF = "this shuffle or vote"
    BULK_COPY = "a bulk copy"
    WGMMA = "wgmma"
    FAULT = "{what}"
    FAULT_IN_LOOP = "{what}; it was in the loop of line {line}"


class Advice(Phrase):
    """What to do about a finding."""

    GUARD_IT = (
        "Compare the index that is used with the size before the access, and let threads outside "
        "do nothing."
    )
    NEGATIVE = (
        "The index is negative. If this thread has an element, work its index out by hand; if not, "
        "compare the index with 0, too, and skip the access."
    )
    WIDE = "Argument {number} is {type}; the kernel takes {bytes} bytes at once."
    MAKE_IT_LESS = "If a comparison lets n itself through, make it <."
    MAKE_IT_GREATER = "If a comparison lets n itself through, make it >=."
    MORE_SHARED = "Or launch with more shared memory."
    PASS_ARRAY = "Pass an array: the kernel got a null pointer, or a number in place of a pointer."
    KEEP_ALIVE = "Keep the array alive until the kernel is done."
    PEER_ACCESS = "Call enable_peer_access with that device's context first."
    NO_CONSTANT = "Kernels cannot write constant memory: use __device__ memory."
    HEAP = "Don't use a block after free, or a block that malloc did not return."
    MEET_FIRST = (
        "Blocks of a cluster do not start at the same instant: let them meet at cluster.sync() "
        "before one of them touches another's shared memory."
    )
    PASS_MEMORY = "A function's variables end when it returns: let the caller pass in memory."
    ALIGN_OWN = (
        "Declare the array with __align__({bytes}), or it may lie at any multiple of its elements' "
        "size; in it, begin {bytes}-byte accesses at multiples of {bytes} bytes."
    )
    ALIGN = "Begin {bytes}-byte accesses at multiples of {bytes} bytes, or use narrower ones."
    FILL_IT = "Fill the array before the launch, or write every element before it is read."
    GIVE_IT = "Give the variable a value on every path that leads here."
    WRITE_IT = "Write it first: every block starts with shared memory full of garbage."
    UPDATE = (
        "Several threads read, change and write one value: use atomicAdd or a related atomic, or "
        "give each thread a value of its own."
    )
    ATOMIC_AND_PLAIN = (
        "An atomic protects only from other atomics: separate the two by a barrier (in one block) "
        "or a launch, or make both atomic."
    )
    OTHER_BLOCK = (
        "Blocks run in any order: let each write only memory that no other touches, or use "
        "{fence} and an atomic counter to signal that a block is done."
    )
    SCOPE = (
        "An atomic of block scope (atomicAdd_block, cuda::thread_scope_block) protects only within "
        "its block: use device scope (atomicAdd, cuda::thread_scope_device)."
    )
    TWO_SIZES = (
        "Atomics of different sizes do not protect against each other: use one size for this "
        "memory."
    )
    VOLATILE = "volatile orders nothing."
    FLAG = "For a flag: {fence} between the data and the flag."
    RELEASE_IT = (
        "Let its readers signal that they are done (arrive at an mbarrier of its own, or meet at a "
        "barrier), and let the thread that copies wait for that before it overwrites it."
    )
    WAIT_FOR_BYTES = (
        "Wait, however long it takes, for the phase of the mbarrier that counts its bytes "
        "(mbarrier.try_wait.parity with the parity of that phase, in a loop), or meet at a barrier "
        "with a thread that has waited."
    )
    WAIT_FOR_READS = (
        "Let the thread that began it wait (cp.async.bulk.commit_group, then "
        "cp.async.bulk.wait_group.read n: all of its groups but the last n have been read), then "
        "let all meet at a barrier before this is written again."
    )
    WAIT_FOR_COPIES = (
        "Let each thread wait for its copies (cp.async.wait_group n, __pipeline_wait_prior(n): all "
        "of its groups but the last n are done), then let all meet at {barrier}. If they "
        "already do, the copy begins too early: let all readers of the old data meet before it "
        "begins."
    )
    WAIT_FOR_PRODUCTS = (
        "Let each warp of the warpgroup wait for its products (wgmma.commit_group, then "
        "wgmma.wait_group n: all of its groups but the last n are done), and hand the memory over "
        "by a barrier, before it is written again."
    )
    WAIT_FOR_PHASE = (
        "Wait for the mbarrier's last phase, too; or begin no copy that nobody will use."
    )
    WAIT_FOR_GROUP = (
        "Wait before the block ends (cp.async.bulk.wait_group 0); or begin no copy that nobody "
        "will use."
    )
    PRODUCT_FENCE = (
        "Put wgmma.fence.sync.aligned after the registers are written and before the product: once "
        "before the first, and again whenever anything else has written its sums, or a if it is in "
        "registers."
    )
    FENCE_MBARRIER = (
        "Put fence.mbarrier_init.release.cluster (or fence.proxy.async) after the mbarrier is "
        "initialised and before the barrier that lets others copy."
    )
    FENCE_PROXY = (
        "Put fence.proxy.async after the stores and before the barrier that hands them over."
    )
    WAIT_FOR_SUMS = (
        "Wait first: wgmma.commit_group, then wgmma.wait_group n (all groups but the last n are "
        "done). Until then the sums, and a if it is in registers, belong to the product."
    )
    CLUSTER_SYNC = (
        "Put cluster.sync() between the two: all blocks of the cluster meet there, in PTX by "
        "barrier.cluster.arrive and barrier.cluster.wait."
    )
    FENCE = (
        "A lock or a flag hands over no data without a fence: put {fence}, which reaches "
        "other blocks (__threadfence_block() does not), after the data is written and before the "
        "lock is released or the flag set."
    )
    FENCE_BLOCK = (
        "A lock or a flag hands over no data without a fence: put __threadfence_block() after the "
        "data is written and before the lock is released or the flag set."
    )
    ONE_WARP_ALONE = "If only one warp ever gets here, use __syncwarp()."
    OR_SHUFFLE = "Or exchange values by __shfl_sync."
    ONE_WRITER = (
        "Let one thread write it, or give each thread its own place; to combine the values use an "
        "atomic."
    )
    PLAIN_LOAD = (
        "__ldg and const __restrict__ pointers read through a cache that writes do not reach: use "
        "a plain load for memory that the launch writes."
    )
    NO_RETURN = "Take the barrier out of the condition, and let no thread return before it."
    SAME_BARRIER = (
        "Take the barrier out of the condition, so that all threads meet at the same one."
    )
    NO_CONDITION = "Take the barrier out of the condition or loop that threads may disagree on."
    WHOLE_WARP = (
        "The 32 lanes of a warp execute an `.aligned` instruction together: take it out of the "
        "condition that they disagree on, and let none return before it."
    )
    ALL_LANES = (
        "Let all lanes that are read take part: move the shuffle out of the condition, or read "
        "only lanes that are there."
    )
    STAY = (
        "No lane may return before a shuffle that reads it: let it continue, and skip only its "
        "loads and stores."
    )
    NAME_ALL = "Give a mask that names all lanes that get here, and no others."
    NAME_THESE = (
        "Give a mask that names the lanes that get here, taken before the branch (__ballot_sync), "
        "or take the call out of the condition."
    )
    # barriers (advice.py)
    OWN_PLACE = "Let one thread write it, or give each thread its own place."
    BETWEEN = "Put {barrier} between the two."
    READ_THEN_WRITE = (
        "Put {barrier} between the two: read into a variable, then {barrier}, then write."
    )
    END_OF_LOOP_OR_READ = (
        "Put {barrier} at the end of the loop's body; or read into a variable, then {barrier}, "
        "then write."
    )
    BETWEEN_AND_END_OF_LOOP = (
        "Put {barrier} between the two, and at the end of the loop's body, from which it comes "
        "back to line {line}."
    )
    END_OF_LOOP = (
        "Put {barrier} at the end of the loop's body: in its next turn, line {line} {does} memory "
        "that line {other} still {other_does}."
    )
    # faults
    ENDED = "The launch ended here: anything after this was not checked."
    EXPECT_BYTES = (
        "Expect as many bytes in a phase as its copies bring: a whole box, even where it reaches "
        "past an edge."
    )
    ARRIVALS = (
        "Does each phase get the arrivals for which its mbarrier was initialised? Or does a wait "
        "name the wrong phase? Each mbarrier's parities are 0, 1, 0, ... in turn."
    )
    REGISTERS = (
        "A block has the registers that it was launched with: what setmaxnreg.inc takes, other "
        "warps must give by setmaxnreg.dec."
    )
    MBARRIER_BYTES = (
        "An mbarrier has 8 bytes: number i of several begins 8 * i bytes after the first. Declare "
        "room for them as unsigned long long."
    )
    ALIGN_ARRAY = (
        "Work the address out by hand. If it is the beginning of an array, declare the array with "
        "__align__ of that many bytes."
    )
    PARITY = "Pass the number of the phase modulo 2: a wait knows parities 0 and 1 only."
    FEWER_ARRIVALS = (
        "Initialise the mbarrier for as many arrivals as a phase gets, or let fewer threads arrive."
    )
