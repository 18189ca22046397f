/* SOFTGPU_CRASHES: a process that crashes says where in C, and in which kernel, before its other
   handlers of the signal see it: on stderr (1), or at the end of a file, which no one who captures
   stderr can lose. Python's faulthandler knows only the frames of Python. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/base.h"

enum { FRAMES = 64, CODES = 4096, LONGEST = 96 };

static const struct {
    int number;
    const char *name;
} signals[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGILL, "SIGILL"}, {SIGFPE, "SIGFPE"}};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction previous[SIGNALS];
static struct {
    uintptr_t entry;
    char kernel[LONGEST];
} codes[CODES]; /* the latest that was made; read without a lock, by who crashes */
static uint32_t made;
static char file_name[4096]; /* or empty: stderr */
static int out = STDERR_FILENO;

void crash_code(const void *entry, const char *kernel)
{
    uint32_t at = __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED) % CODES;
    codes[at].entry = (uintptr_t)entry;
    snprintf(codes[at].kernel, LONGEST, "%s", kernel);
}

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (write(out, text, length < 300 ? length : 299) < 0) return;
}

/* The kernel whose code begins last before an address, which may have been unloaded since. */
static void say_kernel(uintptr_t address)
{
    uint32_t nearest = CODES;
    for (uint32_t i = 0; i < CODES; i++)
        if (codes[i].entry && codes[i].entry <= address && address - codes[i].entry < 1u << 20 &&
            (nearest == CODES || codes[i].entry > codes[nearest].entry))
            nearest = i;
    if (nearest < CODES)
        say("  %#lx: kernel %s+0x%lx, or what lies after it\n", address, codes[nearest].kernel,
            address - codes[nearest].entry);
}

/* The line of the table of mappings that has an address. */
static void say_mapping(const char *what, uintptr_t address)
{
    static char table[1 << 20];
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    for (ssize_t got = 1; file >= 0 && got > 0 && length < sizeof table - 1; length += got)
        if ((got = read(file, table + length, sizeof table - 1 - length)) < 0) got = 0;
    if (file >= 0) close(file);
    table[length] = 0;
    for (char *line = table, *end; *line; line = end + 1) {
        if ((end = strchr(line, '\n'))) *end = 0;
        uintptr_t first = strtoull(line, &line, 16), last = strtoull(line + 1, &line, 16);
        if (address >= first && address < last) {
            say("%s %#lx lies in %lx-%lx%s\n", what, address, first, last, line);
            return;
        }
        if (!end) break;
    }
    say("%s %#lx is not mapped\n", what, address);
}

static uintptr_t instruction_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return context->uc_mcontext.gregs[REG_RIP];
#else
    return context->uc_mcontext.pc;
#endif
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    int file = *file_name ? open(file_name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (file >= 0) out = file;
    for (int i = 0; i < SIGNALS; i++) {
        if (signals[i].number != number) continue;
        sigaction(number, &previous[i], NULL); /* which comes next, as the fault happens again */
        say("softgpu: %s in thread %ld of process %d\n", signals[i].name, syscall(SYS_gettid),
            getpid());
    }
    say_mapping("address", (uintptr_t)info->si_addr);
    uintptr_t instruction = instruction_of(context);
    say_mapping("instruction", instruction);
    say_kernel(instruction);
    void *frames[FRAMES];
    int count = backtrace(frames, FRAMES);
    backtrace_symbols_fd(frames, count, out);
    for (int i = 0; i < count; i++) say_kernel((uintptr_t)frames[i]);
}

static void __attribute__((constructor)) tell_crashes(void)
{
    const char *wanted = getenv("SOFTGPU_CRASHES");
    if (!wanted || !*wanted) return;
    if (strcmp(wanted, "1")) snprintf(file_name, sizeof file_name, "%s", wanted);
    void *frame;
    backtrace(&frame, 1); /* loads what it needs, which a handler could not */
    struct sigaction own = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (int i = 0; i < SIGNALS; i++) sigaction(signals[i].number, &own, &previous[i]);
}
