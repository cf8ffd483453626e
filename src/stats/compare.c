#include "stats/compare.h"

#include "base/memory.h"
#include "stats/random.h"
#include "stats/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_PAIRS 50 /* signed ranks: exact up to here */
#define EXACT_BOTH  40 /* Mann-Whitney: both sets together */
#define POWER       0.9

/* ---- The normal distribution ---- */

static double upper_tail(double z)
{
    return 0.5 * erfc(z / sqrt(2.0));
}

/* The z above which `tail` of a normal distribution lies, by bisection. */
static double normal_quantile(double tail)
{
    double low = 0;
    double high = 40;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        if (upper_tail(middle) > tail) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static double two_sided(double z)
{
    return fmin(1.0, 2 * upper_tail(fabs(z)));
}

/* ---- Ranks ---- */

struct ranked {
    double key;
    size_t index;
};

static int by_key(const void *a, const void *b)
{
    return stats_compare_doubles(&((const struct ranked *)a)->key,
                                 &((const struct ranked *)b)->key);
}

/* Twice the rank of each item, a whole number also where ties share the mean of their ranks.
 * Returns the sum of t³ - t over the groups of t ties. */
static double doubled_ranks(struct ranked *items, size_t count, unsigned *doubled)
{
    double ties = 0;
    qsort(items, count, sizeof *items, by_key);
    for (size_t first = 0; first < count;) {
        size_t last = first;
        while (last + 1 < count && items[last + 1].key == items[first].key) {
            last++;
        }
        double group = (double)(last - first + 1);
        ties += group * group * group - group;
        for (size_t i = first; i <= last; i++) {
            doubled[items[i].index] = (unsigned)(first + last + 2);
        }
        first = last + 1;
    }
    return ties;
}

/* ---- Wilcoxon's signed-rank test ---- */

/* The chance that random signs give a sum of doubled ranks as far from the middle as `sum`. */
static double signed_rank_exact(const unsigned *doubled, size_t count, unsigned sum,
                                double *chances, unsigned total)
{
    memset(chances, 0, (total + 1) * sizeof *chances);
    chances[0] = 1;
    for (size_t i = 0; i < count; i++) {
        for (unsigned s = total + 1; s-- > 0;) {
            double with = s >= doubled[i] ? chances[s - doubled[i]] : 0;
            chances[s] = (chances[s] + with) / 2;
        }
    }
    unsigned distance = sum * 2 > total ? sum * 2 - total : total - sum * 2;
    double p = 0;
    for (unsigned s = 0; s <= total; s++) {
        unsigned other = s * 2 > total ? s * 2 - total : total - s * 2;
        p += other >= distance ? chances[s] : 0;
    }
    return fmin(1.0, p);
}

static double signed_rank_normal(size_t count, double sum, double ties)
{
    double n = (double)count;
    double middle = n * (n + 1) / 4;
    double variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48;
    return variance > 0 ? two_sided((sum / 2 - middle) / sqrt(variance)) : 1;
}

/* Pairs without a difference have no sign and are left out, as Wilcoxon did. */
double compare_signed_rank_p(const double *differences, size_t count, struct error *error)
{
    struct ranked *items = memory_allocate(count + 1, sizeof *items);
    unsigned *doubled = memory_allocate(count + 1, sizeof *doubled);
    double *chances = memory_allocate((size_t)EXACT_PAIRS * (EXACT_PAIRS + 1) + 1, sizeof *chances);
    double *kept = memory_allocate(count + 1, sizeof *kept);
    double p = -1;
    if (items != NULL && doubled != NULL && chances != NULL && kept != NULL) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++) {
            if (differences[i] != 0) {
                items[n] = (struct ranked){fabs(differences[i]), n};
                kept[n++] = differences[i];
            }
        }
        double ties = doubled_ranks(items, n, doubled);
        uint64_t sum = 0;
        uint64_t total = 0;
        for (size_t i = 0; i < n; i++) {
            sum += kept[i] > 0 ? doubled[i] : 0;
            total += doubled[i];
        }
        p = n <= EXACT_PAIRS
                ? signed_rank_exact(doubled, n, (unsigned)sum, chances, (unsigned)total)
                : signed_rank_normal(n, (double)sum, ties);
    } else {
        memory_error(error, "for a comparison");
    }
    memory_release(items);
    memory_release(doubled);
    memory_release(chances);
    memory_release(kept);
    return p;
}

/* ---- The Mann-Whitney test ---- */

/* chances[k][s]: how many ways there are to choose k of the items with a sum of doubled ranks s. */
static double mann_whitney_exact(const unsigned *doubled, size_t all, size_t chosen, unsigned sum,
                                 double *ways, unsigned total)
{
    size_t width = total + 1;
    memset(ways, 0, (chosen + 1) * width * sizeof *ways);
    ways[0] = 1;
    for (size_t i = 0; i < all; i++) {
        for (size_t k = chosen; k > 0; k--) {
            for (size_t s = total + 1; s-- > doubled[i];) {
                ways[k * width + s] += ways[(k - 1) * width + s - doubled[i]];
            }
        }
    }
    double middle = (double)total * (double)chosen / (double)all;
    double distance = fabs((double)sum - middle) - 1e-9;
    double far = 0;
    double every = 0;
    for (size_t s = 0; s < width; s++) {
        double count = ways[chosen * width + s];
        every += count;
        far += fabs((double)s - middle) >= distance ? count : 0;
    }
    return fmin(1.0, far / every);
}

static double mann_whitney_normal(size_t a_count, size_t b_count, double sum, double ties)
{
    double a = (double)a_count;
    double b = (double)b_count;
    double n = a + b;
    double middle = a * (n + 1) / 2;
    double variance = a * b / 12 * (n + 1 - ties / (n * (n - 1)));
    return variance > 0 ? two_sided((sum / 2 - middle) / sqrt(variance)) : 1;
}

double compare_mann_whitney_p(const double *a, size_t a_count, const double *b, size_t b_count,
                              struct error *error)
{
    size_t all = a_count + b_count;
    bool exact = all <= EXACT_BOTH;
    size_t table = exact ? (a_count + 1) * (all * (all + 1) + 1) : 1;
    struct ranked *items = memory_allocate(all + 1, sizeof *items);
    unsigned *doubled = memory_allocate(all + 1, sizeof *doubled);
    double *ways = memory_allocate(table, sizeof *ways);
    double p = -1;
    if (items == NULL || doubled == NULL || ways == NULL) {
        memory_error(error, "for a comparison");
    } else if (a_count == 0 || b_count == 0) {
        p = 1;
    } else {
        for (size_t i = 0; i < all; i++) {
            items[i] = (struct ranked){i < a_count ? a[i] : b[i - a_count], i};
        }
        double ties = doubled_ranks(items, all, doubled);
        uint64_t sum = 0;
        for (size_t i = 0; i < a_count; i++) {
            sum += doubled[i];
        }
        p = exact ? mann_whitney_exact(doubled, all, a_count, (unsigned)sum, ways,
                                       (unsigned)(all * (all + 1)))
                  : mann_whitney_normal(a_count, b_count, (double)sum, ties);
    }
    memory_release(items);
    memory_release(doubled);
    memory_release(ways);
    return p;
}

/* ---- Ratios and their intervals ---- */

/* The median of a resample of sorted values: counts how often each was drawn instead of sorting. */
static double resampled_median(const double *sorted, size_t count, unsigned *drawn,
                               struct stats_random *random)
{
    memset(drawn, 0, count * sizeof *drawn);
    for (size_t i = 0; i < count; i++) {
        drawn[stats_random_below(random, (uint32_t)count)]++;
    }
    size_t lower_rank = (count - 1) / 2;
    size_t upper_rank = count / 2;
    size_t seen = 0;
    size_t at = 0;
    while ((seen += drawn[at]) <= lower_rank) {
        at++;
    }
    double lower = sorted[at];
    while (seen <= upper_rank) {
        seen += drawn[++at];
    }
    return (lower + sorted[at]) / 2;
}

/* Sets the interval from the sorted log-ratios of all resamples. */
static void set_interval(double *log_ratios, struct comparison *comparison)
{
    qsort(log_ratios, STATS_RESAMPLES, sizeof *log_ratios, stats_compare_doubles);
    comparison->ratio_low = exp(stats_percentile(log_ratios, STATS_RESAMPLES, 0.025));
    comparison->ratio_high = exp(stats_percentile(log_ratios, STATS_RESAMPLES, 0.975));
}

/* The effect that would be found with the stated power at the uncorrected level, for a median whose
 * standard error is 1.2533 times the mean's. */
static double smallest_effect(double variance_of_mean)
{
    double z = normal_quantile(COMPARE_LEVEL / 2) + normal_quantile(1 - POWER);
    return exp(z * 1.2533 * sqrt(variance_of_mean));
}

static double variance_of_mean(const double *values, size_t count)
{
    double mean = 0;
    double sum = 0;
    if (count < 2) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        mean += values[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        sum += (values[i] - mean) * (values[i] - mean);
    }
    return sum / (double)(count - 1) / (double)count;
}

static bool all_positive(const double *values, size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (!(values[i] > 0)) {
            return error_set(error, ERROR_LIMIT, 0,
                             "a run of duration 0 has no ratio: measure larger files");
        }
    }
    return count > 0 || error_set(error, ERROR_LIMIT, 0, "there are no runs to compare");
}

/* Scratch memory of one comparison. */
struct workspace {
    double *a;
    double *b;
    unsigned *drawn;
    double *results;
};

static bool workspace_make(struct workspace *work, size_t a_count, size_t b_count,
                           struct error *error)
{
    size_t larger = a_count > b_count ? a_count : b_count;
    *work = (struct workspace){
        .a = memory_allocate(a_count, sizeof *work->a),
        .b = memory_allocate(b_count, sizeof *work->b),
        .drawn = memory_allocate(larger, sizeof *work->drawn),
        .results = memory_allocate(STATS_RESAMPLES, sizeof *work->results),
    };
    return (work->a != NULL && work->b != NULL && work->drawn != NULL && work->results != NULL) ||
           memory_error(error, "for a comparison");
}

static void workspace_release(struct workspace *work)
{
    memory_release(work->a);
    memory_release(work->b);
    memory_release(work->drawn);
    memory_release(work->results);
}

/* Whole pairs are drawn again: what both sides of one share must stay together. */
bool compare_paired(const double *before, const double *after, size_t pairs, uint64_t seed,
                    struct comparison *comparison, struct error *error)
{
    *comparison = (struct comparison){.count_before = pairs, .count_after = pairs};
    if (!all_positive(before, pairs, error) || !all_positive(after, pairs, error)) {
        return false;
    }
    struct workspace work;
    bool ok = workspace_make(&work, pairs, pairs, error);
    if (ok) {
        struct stats_random random = {seed};
        for (size_t i = 0; i < pairs; i++) {
            work.a[i] = log(after[i] / before[i]);
        }
        comparison->p = compare_signed_rank_p(work.a, pairs, error);
        qsort(work.a, pairs, sizeof *work.a, stats_compare_doubles);
        for (size_t i = 0; i < STATS_RESAMPLES; i++) {
            work.results[i] = resampled_median(work.a, pairs, work.drawn, &random);
        }
        set_interval(work.results, comparison);
        comparison->smallest_effect = smallest_effect(variance_of_mean(work.a, pairs));
        comparison->ratio = exp(stats_percentile(work.a, pairs, 0.5));
    }
    workspace_release(&work);
    return ok && comparison->p >= 0;
}

static void sorted_logarithms(const double *values, size_t count, double *logs)
{
    for (size_t i = 0; i < count; i++) {
        logs[i] = log(values[i]);
    }
    qsort(logs, count, sizeof *logs, stats_compare_doubles);
}

/* Each side is drawn again by itself: a run of one has nothing to do with one of the other. */
bool compare_unpaired(const double *before, size_t before_count, const double *after,
                      size_t after_count, uint64_t seed, struct comparison *comparison,
                      struct error *error)
{
    *comparison = (struct comparison){.count_before = before_count, .count_after = after_count};
    if (!all_positive(before, before_count, error) || !all_positive(after, after_count, error)) {
        return false;
    }
    struct workspace work;
    bool ok = workspace_make(&work, before_count, after_count, error);
    if (ok) {
        struct stats_random random = {seed};
        sorted_logarithms(before, before_count, work.a);
        sorted_logarithms(after, after_count, work.b);
        for (size_t i = 0; i < STATS_RESAMPLES; i++) {
            double median = resampled_median(work.b, after_count, work.drawn, &random);
            work.results[i] = median - resampled_median(work.a, before_count, work.drawn, &random);
        }
        set_interval(work.results, comparison);
        comparison->p = compare_mann_whitney_p(work.a, before_count, work.b, after_count, error);
        comparison->smallest_effect = smallest_effect(variance_of_mean(work.a, before_count) +
                                                      variance_of_mean(work.b, after_count));
        comparison->ratio = exp(stats_percentile(work.b, after_count, 0.5) -
                                stats_percentile(work.a, before_count, 0.5));
    }
    workspace_release(&work);
    return ok && comparison->p >= 0;
}

/* ---- The verdict ---- */

static int by_p(const void *a, const void *b)
{
    const struct comparison *x = *(const struct comparison *const *)a;
    const struct comparison *y = *(const struct comparison *const *)b;
    return stats_compare_doubles(&x->p, &y->p);
}

static enum compare_verdict verdict_of(const struct comparison *comparison, double noise_floor)
{
    bool excluded = comparison->ratio_low > 1 || comparison->ratio_high < 1;
    bool large = fabs(log(comparison->ratio)) > log(1 + noise_floor);
    if (comparison->p_adjusted >= COMPARE_LEVEL || !excluded || !large) {
        return COMPARE_NO_DIFFERENCE;
    }
    return comparison->ratio > 1 ? COMPARE_SLOWER : COMPARE_FASTER;
}

bool compare_decide(struct comparison *comparisons, size_t count, double noise_floor,
                    struct error *error)
{
    struct comparison **order = memory_allocate(count + 1, sizeof *order);
    if (order == NULL) {
        return memory_error(error, "for a comparison");
    }
    for (size_t i = 0; i < count; i++) {
        order[i] = &comparisons[i];
    }
    qsort(order, count, sizeof *order, by_p);
    double largest = 0; /* adjusted values never fall along the order */
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fmin(1.0, order[i]->p * (double)(count - i)));
        order[i]->p_adjusted = largest;
        order[i]->verdict = verdict_of(order[i], noise_floor);
    }
    memory_release(order);
    return true;
}

const char *compare_verdict_text(enum compare_verdict verdict)
{
    static const char *const texts[] = {[COMPARE_NO_DIFFERENCE] = "no difference shown",
                                        [COMPARE_FASTER] = "faster",
                                        [COMPARE_SLOWER] = "slower"};
    return texts[verdict];
}
