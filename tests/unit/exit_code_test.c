/* Exit codes: input and bugs of ours are told apart (DESIGN 5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/commands.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Runs report_error with standard error in a file; what was written goes to text. */
static int reported(weir_code code, char *text, size_t room)
{
    weir_err err = {0};
    weir_err_set(&err, code, "rank 3: the causes add up to 9 ns, the step is 10 ns");
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    int status = report_error(&err);
    fflush(stderr);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    rewind(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
    return status;
}

static void a_bug_of_ours_ends_with_3_and_asks_for_a_report(void **state)
{
    char text[512];
    (void)state;
    assert_int_equal(reported(WEIR_ERR_INTERNAL, text, sizeof text), 3);
    assert_non_null(strstr(text, "the causes add up to 9 ns, the step is 10 ns"));
    assert_non_null(strstr(text, "please report it"));
}

static void everything_else_ends_with_2(void **state)
{
    static const weir_code codes[] = {WEIR_ERR_MEMORY, WEIR_ERR_LIMIT, WEIR_ERR_IO, WEIR_ERR_INPUT,
                                      WEIR_ERR_USAGE};
    char text[512];
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        assert_int_equal(reported(codes[i], text, sizeof text), 2);
        assert_null(strstr(text, "please report it"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bug_of_ours_ends_with_3_and_asks_for_a_report),
        cmocka_unit_test(everything_else_ends_with_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
