/*
 * comseclab transport interface, ABI version 1.
 *
 * A transport is a shared library that carries opaque byte strings between nodes over one
 * middleware. It exports one function, comseclab_transport_entry(), and needs this header alone.
 *
 * The node does all timing, pacing, encoding and recording; a transport only opens, publishes,
 * delivers and reports. Every call is made from one thread at a time per handle, except that
 * publish() on different writers may be concurrent. Callbacks may come from any thread.
 *
 * All structs begin with struct_size. A caller sets it to sizeof the struct it was compiled with;
 * a callee reads no field beyond it. Strings are UTF-8, zero-terminated, and live at least until
 * the call they are passed to returns. Sizes are in bytes, times in nanoseconds.
 */
#ifndef COMSECLAB_TRANSPORT_H
#define COMSECLAB_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COMSECLAB_TRANSPORT_ABI 1u
#define COMSECLAB_ERROR_TEXT 512

typedef struct comseclab_transport comseclab_transport; /* one open participant, session, ... */
typedef struct comseclab_writer comseclab_writer;       /* one stream's sending end */
typedef struct comseclab_reader comseclab_reader;       /* one stream's receiving end */

typedef enum {
  COMSECLAB_OK = 0,
  COMSECLAB_AGAIN = 1,     /* back-pressure or time-out: this message was not taken */
  COMSECLAB_TOO_LARGE = 2, /* above a limit of the middleware */
  COMSECLAB_FAILED = 3     /* anything else; the error text says what */
} comseclab_status;

typedef struct {
  char text[COMSECLAB_ERROR_TEXT]; /* one line: the cause, and the remedy where known */
} comseclab_error;

typedef enum {
  COMSECLAB_MATCHED = 1,  /* count: ends now matched with this writer or reader */
  COMSECLAB_LOST = 2,     /* count: messages the middleware itself says it lost */
  COMSECLAB_DEADLINE = 3, /* count: deadlines the middleware says were missed */
  COMSECLAB_REJECTED = 4  /* count: messages or peers the middleware refused; text says why */
} comseclab_event_kind;

typedef struct {
  uint32_t struct_size;
  comseclab_event_kind kind;
  uint32_t stream; /* the id given in comseclab_stream */
  int is_writer;   /* 1: concerns the writer, 0: the reader */
  uint64_t count;
  const char* text; /* may be NULL */
} comseclab_event;

/* Who sent a message, as far as the middleware tells the application; zeros where it does not. */
typedef struct {
  uint8_t bytes[16];
} comseclab_sender;

typedef void (*comseclab_on_event)(void* context, const comseclab_event* event);
/* bytes are valid only during the call. */
typedef void (*comseclab_on_message)(void* context, const uint8_t* bytes, size_t size,
                                     const comseclab_sender* claimed_sender);

typedef struct {
  uint32_t struct_size;
  const char* node;     /* the node's name, unique in the trial */
  const char* settings; /* a JSON object, from the middleware's part of the laboratory */
  comseclab_on_event on_event;
  void* context;
} comseclab_open;

typedef struct {
  uint32_t struct_size;
  uint32_t stream;   /* id, unique in the trial */
  const char* topic; /* ROS name, e.g. "/scan" */
  const char* type;  /* ROS 2 type, e.g. "sensor_msgs/msg/LaserScan"; "" for an opaque payload */
  const char* codec; /* "cdr": bytes are CDR with the 4-byte encapsulation header; "ros1"; "opaque" */
  int reliable;
  uint32_t max_size; /* the largest message of this stream */
  double rate_hz;    /* mean rate, to size queues */
} comseclab_stream;

typedef struct {
  uint32_t struct_size;
  uint64_t max_message_size; /* 0: no limit known */
  uint32_t copies_sent;      /* payload copies between publish() and the socket */
  uint32_t copies_received;  /* payload copies between the socket and on_message */
} comseclab_limits;

typedef struct {
  uint32_t abi_version; /* COMSECLAB_TRANSPORT_ABI */
  uint32_t struct_size;
  const char* name;    /* e.g. "fastdds" */
  const char* version; /* of the middleware as loaded, e.g. "2.9.1" */

  comseclab_status (*limits)(comseclab_limits* out);
  comseclab_status (*open)(const comseclab_open* request, comseclab_transport** out, comseclab_error* error);
  comseclab_status (*advertise)(comseclab_transport* transport, const comseclab_stream* stream, comseclab_writer** out,
                                comseclab_error* error);
  comseclab_status (*subscribe)(comseclab_transport* transport, const comseclab_stream* stream,
                                comseclab_on_message on_message, void* context, comseclab_reader** out,
                                comseclab_error* error);
  comseclab_status (*publish)(comseclab_writer* writer, const uint8_t* bytes, size_t size, comseclab_error* error);
  /* Writes a JSON object of the middleware's own counters, zero-terminated, cut at capacity. */
  comseclab_status (*statistics)(comseclab_transport* transport, char* json, size_t capacity);
  /* Ends all writers and readers; no callback comes after it returns. */
  void (*close)(comseclab_transport* transport);
} comseclab_transport_api;

/* The one exported symbol. Returns a table with static lifetime. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const comseclab_transport_api*
comseclab_transport_entry(void);

#ifdef __cplusplus
}
#endif
#endif
