/* Included before all else: the libraries run with glibc 2.28 as well. What has moved or has another name since
   is asked for as it was then, and still is there. */
#pragma once

#if defined(__x86_64__)
#define FIRST "GLIBC_2.2.5" /* of this kind of processor */
#define SINCE_2(minor) "GLIBC_2." #minor
#else
#define FIRST "GLIBC_2.17"
#define SINCE_2(minor) FIRST
#endif
#define AS(name, old, version) __asm__(".symver " #name "," #old "@" version)
AS(__isoc23_sscanf, __isoc99_sscanf, SINCE_2(7));
AS(__isoc23_strtoull, strtoull, FIRST);
AS(dlopen, dlopen, FIRST);
AS(dlsym, dlsym, FIRST);
AS(pthread_attr_setstacksize, pthread_attr_setstacksize, FIRST);
AS(pthread_condattr_setclock, pthread_condattr_setclock, SINCE_2(3.3));
AS(pthread_create, pthread_create, FIRST);
AS(pthread_getcpuclockid, pthread_getcpuclockid, FIRST);
AS(pthread_sigmask, pthread_sigmask, FIRST);
AS(sem_init, sem_init, FIRST);
AS(sem_post, sem_post, FIRST);
AS(sem_wait, sem_wait, FIRST);
#undef AS
#undef SINCE_2
#undef FIRST
