#include "server/store.h"

#include <string.h>

static const struct store_ops *const stores[] = {&store_memory, &store_null, &store_directory};

const struct store_ops *store_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++) {
        if (strcmp(stores[i]->name, name) == 0) {
            return stores[i];
        }
    }
    return NULL;
}

const char *store_names(void)
{
    return "memory, null, directory";
}
