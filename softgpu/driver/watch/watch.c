/* The sanitizer: the launch that it looks at. */
#include "sanitize.h"

Watch watch;
