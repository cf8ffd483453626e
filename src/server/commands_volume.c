/* Commands about volumes: doc/protocol.md 5.2, and the desktop database, which is empty. */
#include "server/call.h"

#define BLOCK_SIZE 4096

static uint32_t saturate(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static uint16_t volume_attributes(const struct call *call, const struct volume *volume)
{
    unsigned attributes = volume->config->read_only ? AFP_VOLUME_READ_ONLY : 0;
    attributes |= volume->config->password != NULL ? AFP_VOLUME_HAS_PASSWORD : 0;
    if (call->session->version >= AFP_3_0) {
        attributes |= AFP_VOLUME_UTF8_NAMES | AFP_VOLUME_NO_NETWORK_IDS;
    }
    if (call->session->version >= AFP_3_2) {
        attributes |= AFP_VOLUME_CASE_SENSITIVE;
    }
    return (uint16_t)attributes;
}

/* Bits 9 to 11 came with 2.2 (2.3). */
static bool bitmap_allowed(const struct call *call, uint16_t bitmap)
{
    unsigned known = AFP_VOLUME_ALL;
    if (call->session->version < AFP_2_2) {
        known &= ~(unsigned)(AFP_VOLUME_FREE_EXT | AFP_VOLUME_TOTAL_EXT | AFP_VOLUME_BLOCK_SIZE);
    }
    return bitmap != 0 && (bitmap & ~known) == 0;
}

static int32_t reply_parms(struct call *call, struct volume *volume, uint16_t bitmap)
{
    struct store_attributes root;
    volume_lock(volume);
    struct store *store = volume->store;
    store->ops->get(store, store->ops->by_id(store, AFP_ROOT_ID), &root);
    struct store_space space = volume_space(volume);
    volume_unlock(volume);
    struct afp_volume_reply reply = {
        .bitmap = bitmap,
        .parms =
            {
                .attributes = volume_attributes(call, volume),
                .signature = 2, /* 3.4: fixed directory IDs */
                .created = call_date_out(call, volume->created),
                .modified = call_date_out(call, root.modified),
                .backed_up = AFP_DATE_NEVER,
                .id = volume->id,
                .free_bytes = saturate(space.free_bytes),
                .total_bytes = saturate(space.total_bytes),
                .name = volume_mac_name(volume), /* 3.4: also in 3.x */
                .free_bytes_ext = space.free_bytes,
                .total_bytes_ext = space.total_bytes,
                .block_size = BLOCK_SIZE,
            },
    };
    afp_volume_reply(&call->reply, &reply);
    return AFP_OK;
}

/* UTF-8 in either form from 3.0 on, below what was listed. */
static struct volume *volume_by_name(const struct call *call, struct span name)
{
    struct service *service = call->session->service;
    for (size_t i = 0; i < service->config->volume_count; i++) {
        struct volume *volume = &service->volumes[i];
        bool same = call->session->version >= AFP_3_0 ? name_equals(name_span(&volume->name), name)
                                                      : span_equals(volume_mac_name(volume), name);
        if (same) {
            return volume;
        }
    }
    return NULL;
}

int32_t command_open_volume(struct call *call)
{
    struct afp_open_volume_request message = {0};
    afp_open_volume_request(&call->request, &message);
    if (!wire_ok(&call->request)) {
        return AFP_PARAMETER_ERROR;
    }
    /* As Netatalk, which wants the ID asked for. */
    if (!bitmap_allowed(call, message.bitmap) || (message.bitmap & AFP_VOLUME_ID) == 0) {
        return AFP_BITMAP_ERROR;
    }
    struct volume *volume = volume_by_name(call, message.name);
    if (volume == NULL) {
        return AFP_OBJECT_NOT_FOUND;
    }
    if (!volume_admits(volume, message.password)) {
        return AFP_ACCESS_DENIED;
    }
    call->session->volumes_open[volume->id - 1] = true;
    return reply_parms(call, volume, message.bitmap);
}

/* The commands that carry a volume's ID and nothing else. */
static struct volume *volume_of_request(struct call *call)
{
    struct afp_id_request message;
    afp_id_request(&call->request, call->command, &message);
    return call_volume(call, message.id);
}

int32_t command_close_volume(struct call *call)
{
    struct session *session = call->session;
    struct volume *volume = volume_of_request(call);
    if (volume == NULL) {
        return AFP_PARAMETER_ERROR;
    }
    session->volumes_open[volume->id - 1] = false;
    session_close_forks(session, volume);
    return AFP_OK;
}

int32_t command_volume_parms(struct call *call)
{
    struct afp_get_volume_parms_request message;
    afp_get_volume_parms_request(&call->request, &message);
    struct volume *volume = call_volume(call, message.volume);
    if (volume == NULL) {
        return AFP_PARAMETER_ERROR;
    }
    if (!bitmap_allowed(call, message.bitmap)) {
        return AFP_BITMAP_ERROR;
    }
    return reply_parms(call, volume, message.bitmap);
}

/* FPFlush: nothing waits anywhere. */
int32_t command_flush_volume(struct call *call)
{
    return volume_of_request(call) != NULL ? AFP_OK : AFP_PARAMETER_ERROR;
}

int32_t command_open_desktop(struct call *call)
{
    struct volume *volume = volume_of_request(call);
    if (volume == NULL) {
        return AFP_PARAMETER_ERROR;
    }
    uint16_t reference = volume->id;
    wire_u16(&call->reply, &reference);
    return AFP_OK;
}

int32_t command_close_desktop(struct call *call)
{
    struct afp_id_request message;
    afp_id_request(&call->request, AFP_CLOSE_DESKTOP, &message);
    return wire_ok(&call->request) && message.id != 0 ? AFP_OK : AFP_PARAMETER_ERROR;
}

int32_t command_sync_directory(struct call *call)
{
    struct afp_sync_directory_request message;
    afp_sync_directory_request(&call->request, &message);
    struct volume *volume = call_volume(call, message.volume);
    if (volume == NULL) {
        return AFP_PARAMETER_ERROR;
    }
    volume_lock(volume);
    struct store_node *node = volume->store->ops->by_id(volume->store, message.directory);
    volume_unlock(volume);
    return node != NULL ? AFP_OK : AFP_OBJECT_NOT_FOUND;
}
