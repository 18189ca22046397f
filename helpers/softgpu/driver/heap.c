#include "driver.h"
bool heap_range(uint64_t address, Range *range){(void)address;(void)range;return false;}
