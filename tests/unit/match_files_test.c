/* Real files: the collectives of the torchrec sets (4 V100 of one host).
 *
 * Expected values: data/traces/collective-wait.json (reference/trace-format.md, section 3). It
 * pairs by ends alone, which breaks the order of some all-to-alls that one rank left early. The
 * grids say which is right: see members_of_a_collective_have_the_same_grid. */
#include "match_fixture.h"

#include "base/diag.h"
#include "import/kineto.h"
#include "import/paths.h"

#include <dirent.h>
#include <stdio.h>

enum { MOST_FILES = 8 };

typedef struct {
    match_fixture f;
    char paths[MOST_FILES][1024];
    const char *list[MOST_FILES];
    uint32_t count;
    weir_diags diags;
} file_set;

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_paths(file_set *set)
{
    for (uint32_t i = 1; i < set->count; i++) {
        for (uint32_t j = i; j > 0 && compare_paths(&set->list[j - 1], &set->list[j]) > 0; j--) {
            const char *swap = set->list[j];
            set->list[j] = set->list[j - 1];
            set->list[j - 1] = swap;
        }
    }
}

/* Reads the files whose name has the part; skips the test where there are no data. */
static void open_set(file_set *set, const char *part)
{
    memset(set, 0, sizeof *set);
    const char *data = getenv("WEIR_DATA");
    char folder[512];
    (void)snprintf(folder, sizeof folder, "%s/traces/torchrec", data ? data : "../shared/data");
    DIR *dir = opendir(folder);
    if (!dir) {
        skip();
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL && set->count < MOST_FILES;) {
        if (strstr(entry->d_name, part)) {
            (void)snprintf(set->paths[set->count], sizeof *set->paths, "%s/%s", folder,
                           entry->d_name);
            set->list[set->count] = set->paths[set->count];
            set->count++;
        }
    }
    closedir(dir);
    assert_int_equal(set->count, 4);
    sort_paths(set);
    fixture_open(&set->f);
    weir_kineto_options options = {0};
    FIXTURE_OK(
        weir_kineto_read(set->f.t, set->list, set->count, &options, &set->diags, &set->f.err));
    fixture_match_sealed(&set->f);
}

static void close_set(file_set *set)
{
    weir_diags_clear(&set->diags);
    fixture_close(&set->f);
}

typedef struct {
    const char *part;
    uint32_t instances, complete;
    int64_t wait_us[4]; /* by rank */
} expected_set;

static void assert_waits(const expected_set *expected)
{
    file_set set;
    open_set(&set, expected->part);
    assert_int_equal(set.f.match.instance_count, expected->instances);
    assert_int_equal(fixture_complete_count(&set.f), expected->complete);
    for (weir_device_id d = 0; d < 4; d++) { /* these files count in us: no rounding */
        assert_int_equal(fixture_wait_ns(&set.f, d), expected->wait_us[d] * 1000);
    }
    close_set(&set);
}

static void finds_the_waits_of_the_sleep_set(void **state)
{
    (void)state;
    assert_waits(&(expected_set){"sst_sleep", 13, 12, {3032823, 3032778, 482, 3031554}});
}

static void finds_the_waits_of_the_all_to_all_set(void **state)
{
    (void)state;
    assert_waits(&(expected_set){"long_a2a_optimizer__", 13, 12, {3035783, 3035987, 0, 3035197}});
}

/* NCCL gives all members of a collective the same number of channels, hence blocks. The reference
 * pairs two collectives of a2a_optimizer_3 and five of a2a_optimizer_5 otherwise: in the first,
 * ranks 1, 2 and 3 end a collective of grid 8 without rank 0 (which left 220 us before them), and
 * rank 0's span of grid 8 is a member of the next one, of grid 4. Paired in order, all have one
 * grid. */
static void members_of_a_collective_have_the_same_grid(void **state)
{
    (void)state;
    static const char *const parts[] = {"sst_sleep", "long_a2a_optimizer__", "a2a_optimizer_3",
                                        "a2a_optimizer_5", "a2a_optimizer_qcomm"};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        file_set set;
        open_set(&set, parts[p]);
        const weir_match *m = &set.f.match;
        uint32_t grids = 0;
        for (uint32_t i = 0; i < m->instance_count; i++) {
            const weir_member *members = m->members + m->instances[i].first_member;
            const weir_shape *first = weir_timeline_shape_of(set.f.t, members[0].span);
            assert_non_null(first);
            grids |= first->grid[0];
            for (uint32_t k = 1; k < m->instances[i].member_count; k++) {
                const weir_shape *shape = weir_timeline_shape_of(set.f.t, members[k].span);
                assert_int_equal(shape->grid[0], first->grid[0]);
            }
        }
        assert_int_equal(grids & 12, 12); /* there are grids of 4 and of 8: it is a test */
        close_set(&set);
    }
}

static void pairs_all_that_two_more_sets_have_in_common(void **state)
{
    (void)state;
    static const struct {
        const char *part;
        uint32_t instances, complete;
    } rows[] = {{"a2a_optimizer_3", 32, 31}, {"a2a_optimizer_5", 32, 30}};
    for (size_t i = 0; i < 2; i++) {
        file_set set;
        open_set(&set, rows[i].part);
        assert_int_equal(set.f.match.instance_count, rows[i].instances);
        assert_int_equal(fixture_complete_count(&set.f), rows[i].complete);
        close_set(&set);
    }
}

static void tells_all_to_alls_by_their_annotations(void **state)
{
    (void)state;
    file_set set;
    open_set(&set, "sst_sleep");
    const weir_match *m = &set.f.match;
    for (uint32_t i = 0; i < m->instance_count; i++) {
        /* The launches of the first one were before the captures. */
        assert_int_equal(m->instances[i].kind, i == 0 ? WEIR_COMM_SEND_RECV : WEIR_COMM_ALL_TO_ALL);
        assert_false(m->instances[i].is_message);
    }
    close_set(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_waits_of_the_sleep_set),
        cmocka_unit_test(finds_the_waits_of_the_all_to_all_set),
        cmocka_unit_test(members_of_a_collective_have_the_same_grid),
        cmocka_unit_test(pairs_all_that_two_more_sets_have_in_common),
        cmocka_unit_test(tells_all_to_alls_by_their_annotations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
