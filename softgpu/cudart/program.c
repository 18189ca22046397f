/* What `softgpu run` asks for: to be left in peace by exit(), and memory as it is in a process that
   has just begun. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cudart.h"

/* The linker leads a program's malloc here. In a process of its own it would find zeros, as a rule, and
   not what Python and the compiler have left. */
EXPORT void *__wrap_malloc(size_t bytes) { return calloc(1, bytes); }

static void leave(int status, void *nothing)
{
    (void)nothing;
    fflush(NULL);
    _exit(status);
}

static void say(const char *text) { fprintf(stderr, "softgpu: %s\n", text); }

/* What no call answers, or what few programs look at, comes on stderr. */
void sg_set_teller(void (*)(const char *));
EXPORT void sg_tell_user(void) { sg_set_teller(say); }

/* Once what is loaded from now on has cleaned up, the process ends. Python and its packages, which
   the program does not know of when it calls exit(), are not asked to. */
EXPORT void sg_leave_at_exit(void) { on_exit(leave, NULL); }
