#define ATTNSCOPE_SHARED template
#include "shared_templates.h"
