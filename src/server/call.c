#include "server/call.h"

#include <string.h>

struct volume *call_volume(const struct call *call, uint16_t id)
{
    struct service *service = call->session->service;
    if (!wire_ok(&call->request) || id == 0 || id > service->config->volume_count ||
        !call->session->volumes_open[id - 1]) {
        return NULL;
    }
    return &service->volumes[id - 1];
}

struct open_fork *call_fork(const struct call *call, uint16_t reference)
{
    return wire_ok(&call->request) ? fork_table_get(&call->session->forks, reference) : NULL;
}

uint32_t call_date_out(const struct call *call, uint32_t date)
{
    return date == AFP_DATE_NEVER ? date : date + (uint32_t)call->session->gmt_offset_s;
}

uint32_t call_date_in(const struct call *call, uint32_t date)
{
    return date == AFP_DATE_NEVER ? date : date - (uint32_t)call->session->gmt_offset_s;
}

int32_t call_check_bitmaps(const struct call *call, uint16_t file_bitmap, uint16_t directory_bitmap)
{
    unsigned files = AFP_FILE_ALL;
    unsigned directories = AFP_DIRECTORY_ALL;
    if (call->session->version < AFP_3_0) {
        files &= ~(unsigned)(AFP_NODE_UTF8_NAME | AFP_NODE_UNIX_PRIVILEGES |
                             AFP_FILE_DATA_LENGTH_EXT | AFP_FILE_RESOURCE_LENGTH_EXT);
        directories &= ~(unsigned)(AFP_NODE_UTF8_NAME | AFP_NODE_UNIX_PRIVILEGES);
    }
    bool fine = (file_bitmap & ~files) == 0 && (directory_bitmap & ~directories) == 0;
    return fine ? AFP_OK : AFP_BITMAP_ERROR;
}

/* What the caller may do, as 3.4 packs it: to everybody read, write and search. */
static uint32_t access_rights(const struct volume *volume)
{
    return volume->config->read_only ? 0x83030303U : 0x87070707U;
}

void call_node_parms(const struct call *call, struct volume *volume, struct store_node *node,
                     uint8_t mac[AFP_NAME_LIMIT_MAC], enum afp_node_kind *kind,
                     struct afp_node_parms *parms)
{
    struct store_attributes attributes;
    volume->store->ops->get(volume->store, node, &attributes);
    /* The store does not know what its volume is called. */
    if (attributes.id == AFP_ROOT_ID) {
        attributes.name = name_span(&volume->name);
    }
    uint32_t offspring = 0;
    if (attributes.kind == AFP_DIRECTORY) {
        offspring = volume->store->ops->offspring(volume->store, node);
    }
    *kind = attributes.kind;
    *parms = (struct afp_node_parms){
        .attributes = attributes.attributes,
        .parent_id = attributes.parent_id,
        .created = call_date_out(call, attributes.created),
        .modified = call_date_out(call, attributes.modified),
        .backed_up = call_date_out(call, attributes.backed_up),
        .long_name = name_mangle(mac, AFP_NAME_LIMIT_MAC, attributes.name, attributes.id),
        .utf8_name = attributes.name,
        .id = attributes.id,
        .data_length = attributes.fork_lengths[STORE_DATA_FORK],
        .resource_length = attributes.fork_lengths[STORE_RESOURCE_FORK],
        .offspring = offspring < UINT16_MAX ? (uint16_t)offspring : UINT16_MAX,
        .owner_id = call->session->user_id,
        .group_id = call->session->user_id,
        .access_rights = access_rights(volume),
        .unix_privileges = {call->session->user_id, call->session->user_id, attributes.mode,
                            access_rights(volume)},
    };
    if (attributes.kind == AFP_FILE) {
        parms->attributes |= volume_open_attributes(volume, attributes.id);
    }
    memcpy(parms->finder_info, attributes.finder_info, sizeof parms->finder_info);
}

/* ---- Paths (3.1) ---- */

/* The kinds of path that the session's version has. */
static bool path_type_allowed(const struct call *call, uint8_t type)
{
    return type == AFP_PATH_LONG || (type == AFP_PATH_UTF8 && call->session->version >= AFP_3_0);
}

static bool component_name(const struct afp_path *path, struct span component,
                           struct name_buffer *name)
{
    if (path->type == AFP_PATH_LONG) {
        return component.size <= AFP_NAME_LIMIT_MAC && name_from_mac(name, component);
    }
    return name_decompose(name, component);
}

static bool mac_equals(struct span mac, const struct name_buffer *name)
{
    struct name_buffer decomposed;
    return name_from_mac(&decomposed, mac) && span_equals(name_span(&decomposed), name_span(name));
}

/* A child by its name, or by the ID in a name that was mangled for MacRoman. NULL with
 * AFP_OK: there is none. */
static int32_t find_child(struct volume *volume, struct store_node *directory,
                          const struct name_buffer *name, struct store_node **node)
{
    const struct store_ops *ops = volume->store->ops;
    int32_t result = ops->child(volume->store, directory, name_span(name), node);
    if (result != AFP_OBJECT_NOT_FOUND) {
        return result;
    }
    *node = NULL;
    uint32_t id = name_mangled_id(name_span(name));
    if (id >= AFP_FIRST_FREE_ID) {
        uint8_t mac[AFP_NAME_LIMIT_MAC];
        struct store_attributes attributes;
        struct store_node *other = ops->by_id(volume->store, id);
        if (other != NULL && ops->parent(volume->store, other) == directory) {
            ops->get(volume->store, other, &attributes);
            struct span mangled = name_mangle(mac, AFP_NAME_LIMIT_MAC, attributes.name, id);
            *node = mac_equals(mangled, name) ? other : NULL;
        }
    }
    return AFP_OK;
}

/* A walk along a path. At the root's parent `node` is NULL and `above_root` is set; where nothing
 * has the last name, `node` alone is NULL. */
struct walk {
    struct volume *volume;
    struct store_node *node;
    bool above_root;
    struct place *place;
};

static int32_t step_up(struct walk *walk)
{
    if (walk->node == NULL) {
        return AFP_OBJECT_NOT_FOUND;
    }
    struct store *store = walk->volume->store;
    walk->node = store->ops->parent(store, walk->node);
    walk->above_root = walk->node == NULL;
    walk->place->directory = walk->node != NULL ? store->ops->parent(store, walk->node) : NULL;
    walk->place->name.size = 0;
    return AFP_OK;
}

static int32_t step_down(struct walk *walk)
{
    struct store *store = walk->volume->store;
    const struct name_buffer *name = &walk->place->name;
    if (walk->above_root) {
        bool is_root = span_equals(name_span(name), name_span(&walk->volume->name)) ||
                       mac_equals(volume_mac_name(walk->volume), name);
        walk->above_root = false;
        walk->node = is_root ? store->ops->by_id(store, AFP_ROOT_ID) : NULL;
        walk->place->name.size = 0;
        return is_root ? AFP_OK : AFP_OBJECT_NOT_FOUND;
    }
    struct store_attributes attributes;
    if (walk->node == NULL) {
        return AFP_OBJECT_NOT_FOUND; /* a component before this one does not exist */
    }
    store->ops->get(store, walk->node, &attributes);
    if (attributes.kind != AFP_DIRECTORY) {
        return AFP_OBJECT_NOT_FOUND;
    }
    walk->place->directory = walk->node;
    return find_child(walk->volume, walk->node, name, &walk->node);
}

/* Components are separated by one zero byte; n of them go up n - 1 levels. */
static int32_t follow(struct walk *walk, const struct afp_path *path)
{
    const uint8_t *at = path->name.data;
    const uint8_t *end = at + path->name.size;
    while (at < end) {
        size_t zeros = 0;
        while (at < end && *at == 0) {
            zeros++;
            at++;
        }
        for (; zeros > 1; zeros--) {
            int32_t result = step_up(walk);
            if (result != AFP_OK) {
                return result;
            }
        }
        const uint8_t *begin = at;
        while (at < end && *at != 0) {
            at++;
        }
        if (at > begin) {
            struct span component = {begin, (size_t)(at - begin)};
            if (!component_name(path, component, &walk->place->name)) {
                return AFP_PARAMETER_ERROR;
            }
            int32_t result = step_down(walk);
            if (result != AFP_OK) {
                return result;
            }
        }
    }
    return AFP_OK;
}

int32_t place_for_new(const struct call *call, struct volume *volume, uint32_t directory_id,
                      const struct afp_path *path, struct place *place)
{
    struct store *store = volume->store;
    struct walk walk = {.volume = volume, .place = place};
    *place = (struct place){0};
    if (directory_id == 0 || !path_type_allowed(call, path->type)) {
        return AFP_PARAMETER_ERROR;
    }
    /* No node: from there a path may only lead to the root. */
    walk.above_root = directory_id == AFP_ROOT_PARENT_ID;
    if (!walk.above_root) {
        struct store_attributes attributes;
        walk.node = store->ops->by_id(store, directory_id);
        if (walk.node == NULL) {
            return AFP_OBJECT_NOT_FOUND;
        }
        store->ops->get(store, walk.node, &attributes);
        if (attributes.kind != AFP_DIRECTORY) {
            return AFP_OBJECT_NOT_FOUND;
        }
        place->directory = store->ops->parent(store, walk.node);
    }
    int32_t result = follow(&walk, path);
    place->node = walk.node;
    return result != AFP_OK || !walk.above_root ? result : AFP_OBJECT_NOT_FOUND;
}

int32_t place_find(const struct call *call, struct volume *volume, uint32_t directory_id,
                   const struct afp_path *path, struct place *place)
{
    int32_t result = place_for_new(call, volume, directory_id, path, place);
    return result == AFP_OK && place->node == NULL ? AFP_OBJECT_NOT_FOUND : result;
}

int32_t place_new_name(const struct call *call, const struct afp_path *path,
                       struct name_buffer *name)
{
    struct span component = path->name;
    bool has_zero = component.size > 0 && memchr(component.data, 0, component.size) != NULL;
    name->size = 0;
    if (has_zero || !path_type_allowed(call, path->type)) {
        return AFP_PARAMETER_ERROR;
    }
    if (component.size > 0 && !component_name(path, component, name)) {
        return AFP_PARAMETER_ERROR;
    }
    return AFP_OK;
}
