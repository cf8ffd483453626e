#include "server/server.h"

#include "base/clock.h"
#include "base/listen.h"
#include "base/memory.h"
#include "base/stream.h"
#include "dsi/frame.h"
#include "server/service.h"
#include "server/session.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Connections beyond the session limit: for status requests, and to tell the others "no". */
#define SPARE_CONNECTIONS 64

/* How long to wait with accepting and waiting when descriptors or memory ran out. */
#define RETRY_ACCEPT_NS (100 * NS_PER_MS)

/* Ports tried until one is free on every address. */
#define PORT_ATTEMPTS 20

/* One connected client and the thread that serves it. */
struct connection {
    struct server *server;
    struct connection *next;
    pthread_t thread;
    int socket;
    atomic_bool ended;
};

struct server {
    struct service service;
    const struct server_config *config;
    int *listeners; /* config->listen_count of them */
    uint16_t port;
    int wake;                       /* eventfd: something ended, or server_stop() */
    struct connection *connections; /* server_run()'s own */
    size_t connection_count;
};

struct server_config server_config_default(void)
{
    static const char *const addresses[] = {"127.0.0.1"};
    static const struct server_volume volumes[] = {{.name = "bench", .store = "memory"}};
    return (struct server_config){
        .listen_addresses = addresses,
        .listen_count = 1,
        .port = DSI_DEFAULT_PORT,
        .volumes = volumes,
        .volume_count = 1,
        .allow_guest = true,
        .quantum = SERVER_DEFAULT_QUANTUM,
        .read_ahead_bytes = SERVER_DEFAULT_READ_AHEAD,
        .session_limit = 256,
        .fork_limit = SERVER_DEFAULT_FORKS,
        .server_name = "afpbench",
        .machine_type = "afpbench",
    };
}

/* ---- Listening ---- */

static void close_listeners(struct server *server)
{
    for (size_t i = 0; i < server->config->listen_count; i++) {
        if (server->listeners[i] >= 0) {
            close(server->listeners[i]);
            server->listeners[i] = -1;
        }
    }
}

static bool listen_on_all(struct server *server, struct error *error)
{
    server->port = server->config->port;
    for (size_t i = 0; i < server->config->listen_count; i++) {
        if (!listen_tcp(server->config->listen_addresses[i], &server->port, &server->listeners[i],
                        error)) {
            return false;
        }
    }
    return true;
}

/* A port that the system chose for the first address may be taken on another: then again. */
static bool start_listening(struct server *server, struct error *error)
{
    unsigned attempts = server->config->port == 0 ? PORT_ATTEMPTS : 1;
    do {
        if (listen_on_all(server, error)) {
            return true;
        }
        close_listeners(server);
    } while (--attempts > 0 && error->domain == ERROR_SYSTEM && error->code == EADDRINUSE);
    return false;
}

/* Listeners are -1 from the start, so that closing them is right wherever this fails. */
bool server_start(struct server **started, const struct server_config *config, struct error *error)
{
    struct server *server = memory_allocate(1, sizeof *server);
    int *listeners = memory_allocate(config->listen_count, sizeof(int));
    if (server == NULL || listeners == NULL) {
        memory_release(server);
        memory_release(listeners);
        return memory_error(error, "for the server");
    }
    for (size_t i = 0; i < config->listen_count; i++) {
        listeners[i] = -1;
    }
    server->config = config;
    server->listeners = listeners;
    server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool opened = false;
    if (server->wake < 0) {
        error_set_errno(error, errno, "eventfd");
    } else {
        opened = service_open(&server->service, config, error);
    }
    if (opened && start_listening(server, error)) {
        *started = server;
        return true;
    }
    if (opened) {
        service_close(&server->service);
    }
    if (server->wake >= 0) {
        close(server->wake);
    }
    memory_release(listeners);
    memory_release(server);
    return false;
}

uint16_t server_port(const struct server *server)
{
    return server->port;
}

/* ---- Serving ---- */

static void wake(struct server *server)
{
    uint64_t one = 1;
    ssize_t written = write(server->wake, &one, sizeof one);
    (void)written; /* it fails only when a wake-up is already due */
}

static void *serve_connection(void *argument)
{
    struct connection *connection = argument;
    session_serve(&connection->server->service, connection->socket);
    atomic_store(&connection->ended, true);
    wake(connection->server);
    return NULL;
}

/* Starts a thread for a socket; one that cannot be served is closed. */
static void add_connection(struct server *server, int socket)
{
    struct error ignored;
    struct connection *connection = NULL;
    if (server->connection_count < (size_t)server->config->session_limit + SPARE_CONNECTIONS &&
        stream_prepare_tcp(socket, &ignored)) {
        connection = memory_allocate(1, sizeof *connection);
    }
    if (connection != NULL) {
        connection->server = server;
        connection->socket = socket;
        atomic_init(&connection->ended, false);
        if (pthread_create(&connection->thread, NULL, serve_connection, connection) == 0) {
            connection->next = server->connections;
            server->connections = connection;
            server->connection_count++;
            return;
        }
    }
    memory_release(connection);
    close(socket);
}

/* Joins the threads that have ended, or all of them. */
static void reap(struct server *server, bool all)
{
    struct connection **at = &server->connections;
    while (*at != NULL) {
        struct connection *connection = *at;
        if (!all && !atomic_load(&connection->ended)) {
            at = &connection->next;
            continue;
        }
        pthread_join(connection->thread, NULL);
        close(connection->socket);
        *at = connection->next;
        server->connection_count--;
        memory_release(connection);
    }
}

/* All clients that wait; false if one must go on waiting because the system has no room for it. */
static bool accept_all(struct server *server, int listener)
{
    int socket;
    while ((socket = listen_accept(listener)) >= 0) {
        add_connection(server, socket);
    }
    return errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
}

/* Waits for clients, for threads that end, and for server_stop(). */
static bool serve(struct server *server, struct pollfd *descriptors, struct error *error)
{
    size_t count = server->config->listen_count;
    for (size_t i = 0; i < count; i++) {
        descriptors[i] = (struct pollfd){.fd = server->listeners[i], .events = POLLIN};
    }
    descriptors[count] = (struct pollfd){.fd = server->wake, .events = POLLIN};
    bool room = true;
    while (!atomic_load(&server->service.stopping)) {
        /* Without room the listeners would stay ready: only the wake-up, and another try soon. */
        uint64_t deadline_ns = room ? UINT64_MAX : clock_now_ns() + RETRY_ACCEPT_NS;
        size_t first = room ? 0 : count;
        if (stream_poll(descriptors + first, count + 1 - first, deadline_ns) < 0) {
            if (errno != ENOMEM) {
                return error_set_errno(error, errno, "poll");
            }
            nanosleep(&(struct timespec){.tv_nsec = RETRY_ACCEPT_NS}, NULL);
        }
        uint64_t ignored;
        ssize_t drained = read(server->wake, &ignored, sizeof ignored);
        (void)drained;
        reap(server, false);
        room = true;
        for (size_t i = 0; i < count; i++) {
            room = accept_all(server, server->listeners[i]) && room;
        }
    }
    return true;
}

bool server_run(struct server *server, struct error *error)
{
    struct pollfd *descriptors =
        memory_allocate(server->config->listen_count + 1, sizeof *descriptors);
    if (descriptors == NULL) {
        return memory_error(error, "for the server");
    }
    bool done = serve(server, descriptors, error);
    memory_release(descriptors);
    close_listeners(server);
    atomic_store(&server->service.stopping, true);
    for (struct connection *at = server->connections; at != NULL; at = at->next) {
        stream_shut_down(at->socket);
    }
    reap(server, true);
    return done;
}

void server_stop(struct server *server)
{
    atomic_store(&server->service.stopping, true);
    wake(server);
}

void server_free(struct server *server)
{
    close_listeners(server);
    close(server->wake);
    service_close(&server->service);
    memory_release(server->listeners);
    memory_release(server);
}
