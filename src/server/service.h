/*
 * service.h - what all sessions of a server share: the configuration, the volumes, the number of
 * places. No sockets here; server.c listens, and tests serve a session on any connected socket.
 */
#ifndef AFPBENCH_SERVER_SERVICE_H
#define AFPBENCH_SERVER_SERVICE_H

#include "server/server.h"
#include "server/volume.h"
#include "uam/uam.h"

#include <pthread.h>
#include <stdatomic.h>

#define SERVICE_VOLUME_LIMIT    250
#define SERVICE_SILENCE_LIMIT_S 150 /* 1.8: what Netatalk was measured to wait */
#define SERVICE_GUEST_ID        65534
#define SERVICE_FIRST_USER_ID   1000

struct service {
    const struct server_config *config;
    struct volume *volumes; /* config->volume_count of them */
    uint8_t signature[16];
    /* How long until a quiet session sends a tickle, and until one that hears nothing ends. */
    uint64_t tickle_ns, silence_ns;
    atomic_uint sessions;
    atomic_bool stopping; /* long commands look at it */
};

/* Checks the configuration and makes the volumes. `config` must outlive the service. */
MUST_CHECK bool service_open(struct service *service, const struct server_config *config,
                             struct error *error);
void service_close(struct service *service);

/* One of config->session_limit places; false: all are taken. */
bool service_take_place(struct service *service);
void service_leave_place(struct service *service);

/* True if the configuration lets clients log in with this method. */
bool service_offers(const struct service *service, const struct uam *uam);

/* FPGetSrvrInfo's reply (2.1), with the address that `socket` is connected to. */
void service_info(const struct service *service, int socket, struct wire *reply);

#endif
