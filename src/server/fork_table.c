#include "server/fork_table.h"

#include "base/memory.h"

#include <string.h>

#define FIRST_ROOM 16

static bool grow(struct fork_table *table)
{
    size_t room = table->room > 0 ? table->room * 2 : FIRST_ROOM;
    struct open_fork **grown = memory_resize(table->forks, room, sizeof(struct open_fork *));
    if (grown == NULL) {
        return false;
    }
    memset(grown + table->room, 0, (room - table->room) * sizeof(struct open_fork *));
    table->forks = grown;
    table->room = room;
    return true;
}

/* Those below the lowest free index are all in use, so it says when the limit is reached. */
uint16_t fork_table_reserve(struct fork_table *table, uint16_t limit)
{
    size_t index = table->lowest_free;
    while (index < table->room && table->forks[index] != NULL) {
        index++;
    }
    table->lowest_free = index;
    if (index >= limit || (index == table->room && !grow(table))) {
        return 0;
    }
    return (uint16_t)(index + 1);
}

struct open_fork *fork_table_get(const struct fork_table *table, uint16_t reference)
{
    return reference > 0 && reference <= table->room ? table->forks[reference - 1] : NULL;
}

void fork_table_set(struct fork_table *table, uint16_t reference, struct open_fork *fork)
{
    size_t index = reference - 1U;
    table->forks[index] = fork;
    if (fork == NULL && index < table->lowest_free) {
        table->lowest_free = index;
    }
}

void fork_table_release(struct fork_table *table)
{
    memory_release(table->forks);
    *table = (struct fork_table){0};
}
