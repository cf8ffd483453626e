#include "stats/verdict.h"

#include "stats/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Ratios of whole numbers and the logarithms of margins are off by a few units in the last place;
 * real differences are far larger. */
#define ROUNDING 1e-12

/* 2 · 1.2816: half the guesses of what it takes should find the answer nine times in ten. */
#define POWER 2.5632

/* ---- Tosses of a fair coin ---- */

/* log(C(tosses, heads) ÷ 2^tosses) after that of one head less: 2^-tosses alone underflows. */
static double next_log_chance(double log_chance, size_t tosses, size_t heads)
{
    return log_chance + log((double)(tosses - heads + 1) / (double)heads);
}

static double level_of_a_side(size_t cases)
{
    return VERDICT_LEVEL / (2 * VERDICT_LOOKS * (double)cases);
}

/* P(at most `most` heads). */
static double at_most(size_t most, size_t tosses)
{
    double log_chance = -(double)tosses * log(2);
    double sum = exp(log_chance);
    for (size_t heads = 1; heads <= most && heads <= tosses; heads++) {
        log_chance = next_log_chance(log_chance, tosses, heads);
        sum += exp(log_chance);
    }
    return sum;
}

size_t verdict_k(size_t pairs, size_t cases)
{
    double limit = level_of_a_side(cases);
    double log_chance = -(double)pairs * log(2);
    double sum = exp(log_chance); /* P(fewer than k + 1 heads) */
    size_t k = 0;
    while (sum <= limit && k < pairs) {
        k++;
        log_chance = next_log_chance(log_chance, pairs, k);
        sum += exp(log_chance);
    }
    return k;
}

size_t verdict_fewest_pairs(size_t cases, size_t k)
{
    size_t pairs = 1;
    while (verdict_k(pairs, cases) < k) {
        pairs++;
    }
    return pairs;
}

bool verdict_is_look(size_t pairs, size_t planned)
{
    return planned > 0 && (pairs == planned || pairs == 2 * planned || pairs == 4 * planned);
}

/* ---- A case ---- */

static double p_of(const double *d, size_t pairs, size_t cases)
{
    size_t above = 0;
    size_t below = 0;
    for (size_t i = 0; i < pairs; i++) {
        above += d[i] > 0;
        below += d[i] < 0;
    }
    size_t larger = above > below ? above : below;
    return fmin(1, at_most(pairs - larger, pairs) * VERDICT_LEVEL / level_of_a_side(cases));
}

static enum verdict_kind kind_of(const struct verdict *verdict)
{
    if (verdict->k == 0) {
        return VERDICT_NOT_DECIDED;
    }
    if (verdict->low > 1 && verdict->ratio > 1 + VERDICT_WORDS) {
        return VERDICT_SLOWER;
    }
    if (verdict->high < 1 && verdict->ratio < 1 / (1 + VERDICT_WORDS)) {
        return VERDICT_FASTER;
    }
    return VERDICT_NO_DIFFERENCE;
}

struct verdict verdict_decide(double *d, size_t pairs, size_t cases)
{
    struct verdict verdict = {.pairs = pairs, .cases = cases, .k = verdict_k(pairs, cases)};
    qsort(d, pairs, sizeof *d, stats_compare_doubles);
    verdict.ratio = exp(stats_percentile(d, pairs, 0.5));
    verdict.p = p_of(d, pairs, cases);
    if (verdict.k > 0) {
        verdict.low = exp(d[verdict.k - 1]);
        verdict.high = exp(d[pairs - verdict.k]);
    }
    verdict.kind = kind_of(&verdict);
    return verdict;
}

/* ---- Gates ---- */

/* The z above which `tail` of a normal distribution lies, by bisection. */
static double normal_quantile(double tail)
{
    double low = 0;
    double high = 40;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        if (0.5 * erfc(middle / sqrt(2)) > tail) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* How far d lies on the side that the gate forbids. */
static double towards(const struct verdict_gate *gate, double d)
{
    return gate->faster ? -d : d;
}

/* Pairs in all until the sign of (d - limit) is settled, of which `q` have the rarer one. */
static size_t pairs_it_takes(double q, size_t cases)
{
    double z = normal_quantile(level_of_a_side(cases));
    double root = (z + POWER * sqrt(q * (1 - q))) / (1 - 2 * q);
    double total = ceil(root * root);
    size_t fewest = verdict_fewest_pairs(cases, 1);
    return total > (double)fewest ? (size_t)total : fewest;
}

static void set_remedy(struct verdict_answer *answer, size_t rarer, const struct verdict *verdict,
                       size_t planned)
{
    if (2 * rarer == verdict->pairs) {
        answer->remedy = VERDICT_NO_REMEDY;
        return;
    }
    answer->total = pairs_it_takes((double)rarer / (double)verdict->pairs, verdict->cases);
    if (answer->total <= verdict->pairs) {
        answer->total = verdict->pairs + 1;
    }
    bool within = answer->total <= 4 * planned;
    answer->remedy = within ? VERDICT_MORE_PAIRS : VERDICT_PLAN_ENDS;
}

struct verdict_answer verdict_ask(const struct verdict_gate *gate, const struct verdict *verdict,
                                  const double *d, size_t planned)
{
    struct verdict_answer answer = {.outcome = GATE_NOT_DECIDED, .remedy = VERDICT_DECIDED};
    double limit = log1p(gate->margin) + ROUNDING;
    size_t above = 0;
    for (size_t i = 0; i < verdict->pairs; i++) {
        above += towards(gate, d[i]) > limit;
    }
    size_t not_above = verdict->pairs - above;
    /* The k-th of either end lies on a side when fewer than k lie on the other. */
    if (verdict->k > 0 && not_above < verdict->k) {
        answer.outcome = GATE_FAILED;
    } else if (verdict->k > 0 && above < verdict->k) {
        answer.outcome = GATE_PASSED;
    } else {
        set_remedy(&answer, above < not_above ? above : not_above, verdict, planned);
    }
    return answer;
}

enum gate_outcome verdict_worse(enum gate_outcome a, enum gate_outcome b)
{
    return a > b ? a : b;
}

/* ---- What makes a comparison doubtful ---- */

bool verdict_still_warming(double *d, size_t invocations, size_t cases)
{
    size_t k = verdict_k(invocations, cases);
    qsort(d, invocations, sizeof *d, stats_compare_doubles);
    return k > 0 && d[k - 1] > 0;
}

bool verdict_drifted(double *times, size_t count, double margin)
{
    size_t half = count / 2;
    if (half < 2) {
        return false;
    }
    double *second = times + (count - half);
    qsort(times, half, sizeof *times, stats_compare_doubles);
    qsort(second, half, sizeof *times, stats_compare_doubles);
    double ratio = stats_percentile(second, half, 0.5) / stats_percentile(times, half, 0.5);
    return fmax(ratio, 1 / ratio) > 1 + margin / 2;
}

/* ---- Words ---- */

const char *verdict_kind_text(enum verdict_kind kind)
{
    static const char *const texts[] = {
        [VERDICT_NOT_DECIDED] = "not decided",
        [VERDICT_NO_DIFFERENCE] = "no difference shown",
        [VERDICT_FASTER] = "faster",
        [VERDICT_SLOWER] = "slower",
    };
    return texts[kind];
}

const char *verdict_outcome_text(enum gate_outcome outcome)
{
    static const char *const texts[] = {
        [GATE_PASSED] = "passed",
        [GATE_NOT_DECIDED] = "not decided",
        [GATE_FAILED] = "failed",
    };
    return texts[outcome];
}

/* The distance of a ratio from 1 in tenths of a percent, a half away from 0. */
static long tenths(double ratio)
{
    return lround(fabs(ratio - 1) * 1000 + 1e-9);
}

/* "7.9 to 13.1 %", the smaller first. */
static void write_range(const struct verdict *verdict, char text[VERDICT_TEXT_LENGTH])
{
    long low = tenths(verdict->low);
    long high = tenths(verdict->high);
    long first = low < high ? low : high;
    long last = low < high ? high : low;
    snprintf(text, VERDICT_TEXT_LENGTH, "%ld.%ld to %ld.%ld %%", first / 10, first % 10, last / 10,
             last % 10);
}

/* "1.7 to 2.6 % slower", "6.3 % faster to 7.1 % slower". */
static void write_interval(const struct verdict *verdict, char text[VERDICT_TEXT_LENGTH])
{
    long low = tenths(verdict->low);
    long high = tenths(verdict->high);
    if (verdict->low < 1 && verdict->high > 1) {
        snprintf(text, VERDICT_TEXT_LENGTH, "%ld.%ld %% faster to %ld.%ld %% slower", low / 10,
                 low % 10, high / 10, high % 10);
        return;
    }
    char range[VERDICT_TEXT_LENGTH];
    write_range(verdict, range);
    snprintf(text, VERDICT_TEXT_LENGTH, "%.60s %s", range, verdict->low < 1 ? "faster" : "slower");
}

static const char *write_too_few(const struct verdict *verdict, char text[VERDICT_TEXT_LENGTH])
{
    size_t fewest = verdict_fewest_pairs(verdict->cases, 1);
    snprintf(text, VERDICT_TEXT_LENGTH,
             "not decided: %zu pair%s cannot decide %zu case%s; needs %zu more", verdict->pairs,
             verdict->pairs == 1 ? "" : "s", verdict->cases, verdict->cases == 1 ? "" : "s",
             fewest - verdict->pairs);
    return text;
}

const char *verdict_text(const struct verdict *verdict, char text[VERDICT_TEXT_LENGTH])
{
    char range[VERDICT_TEXT_LENGTH];
    if (verdict->k == 0) {
        return write_too_few(verdict, text);
    }
    if (verdict->kind == VERDICT_NO_DIFFERENCE) {
        write_interval(verdict, range);
        snprintf(text, VERDICT_TEXT_LENGTH, "no difference shown: %.80s", range);
        return text;
    }
    write_range(verdict, range);
    snprintf(text, VERDICT_TEXT_LENGTH, "%s, by %.80s", verdict_kind_text(verdict->kind), range);
    return text;
}

const char *verdict_answer_text(const struct verdict_answer *answer,
                                const struct verdict_gate *gate, const struct verdict *verdict,
                                char text[VERDICT_TEXT_LENGTH])
{
    char range[VERDICT_TEXT_LENGTH];
    char more[64] = "";
    if (verdict->k == 0) {
        return write_too_few(verdict, text);
    }
    if (answer->remedy == VERDICT_NO_REMEDY) {
        snprintf(more, sizeof more, "; more pairs will not help");
    } else if (answer->remedy != VERDICT_DECIDED) {
        snprintf(more, sizeof more, "; needs about %zu pairs more%s",
                 answer->total - verdict->pairs,
                 answer->remedy == VERDICT_PLAN_ENDS ? ", the plan ends before" : "");
    }
    write_interval(verdict, range);
    snprintf(text, VERDICT_TEXT_LENGTH, "%s: %.60s, gate %.6g %%%s",
             verdict_outcome_text(answer->outcome), range, gate->margin * 100, more);
    return text;
}
