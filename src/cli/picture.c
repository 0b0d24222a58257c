#include "cli/picture.h"

#include "cli/output.h"

weir_code picture_write(const char *target, const weir_perfetto_request *request, weir_err *err)
{
    output_file out;
    weir_code code = output_open(&out, target, err);
    if (code != WEIR_OK)
        return code;
    code = weir_perfetto_write(out.file, request, err);
    if (code == WEIR_OK)
        return output_commit(&out, err);
    output_discard(&out);
    return code;
}
