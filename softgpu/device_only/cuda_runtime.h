/* What nvcc includes before a source, without what only host code needs, which is half of it: the
   templates of the CUDA runtime, C++'s pairs and iterators, and its special functions. */
#pragma once
#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
#define _GLIBCXX_BITS_SPECFUN_H 1

#include "crt/host_config.h"

#include <initializer_list>

#include "builtin_types.h"
#include "library_types.h"
#include "vector_functions.h"

#include "crt/common_functions.h"
#include "crt/device_functions.h"
#include "device_launch_parameters.h"

#undef __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
