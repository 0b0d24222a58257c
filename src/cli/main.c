#include "weir/base.h"

#include <stdio.h>

int main(void)
{
    printf("weir %s\n", weir_version());
    return 0;
}
