#include "driver.h"
void printf_flush(void) {}
