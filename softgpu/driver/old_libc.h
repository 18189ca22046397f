/* Included before all else: the libraries run with glibc 2.28 as well. What has moved or has another name since
   is asked for as it was then, and still is there. */
#pragma once

#if defined(__x86_64__) && defined(__linux__)
#define AS(name, old) __asm__(".symver " #name "," old)
AS(__isoc23_sscanf, "__isoc99_sscanf@GLIBC_2.7");
AS(__isoc23_strtoull, "strtoull@GLIBC_2.2.5");
AS(dlopen, "dlopen@GLIBC_2.2.5");
AS(dlsym, "dlsym@GLIBC_2.2.5");
AS(pthread_attr_setstacksize, "pthread_attr_setstacksize@GLIBC_2.2.5");
AS(pthread_condattr_setclock, "pthread_condattr_setclock@GLIBC_2.3.3");
AS(pthread_create, "pthread_create@GLIBC_2.2.5");
AS(pthread_sigmask, "pthread_sigmask@GLIBC_2.2.5");
AS(sem_init, "sem_init@GLIBC_2.2.5");
AS(sem_post, "sem_post@GLIBC_2.2.5");
AS(sem_wait, "sem_wait@GLIBC_2.2.5");
#undef AS
#endif
