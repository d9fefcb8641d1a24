/* zlib.h: the little of zlib that writing compressed .npz files needs. The library is opened when it is needed and closed
 * again; Kiln builds and reads without it. */
#ifndef KILN_FILES_ZLIB_H
#define KILN_FILES_ZLIB_H

/* zlib's z_stream; its layout and its size are part of its interface since version 1.0. */
typedef struct zlib_stream {
    const unsigned char *next_in;
    unsigned avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *(*zalloc)(void *, unsigned, unsigned);
    void (*zfree)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long adler, reserved;
} zlib_stream;

typedef struct zlib {
    void *handle;
    int (*deflateInit2_)(zlib_stream *, int level, int method, int window_bits, int mem_level, int strategy, const char *version, int size);
    int (*deflate)(zlib_stream *, int flush);
    int (*deflateEnd)(zlib_stream *);
} zlib;

enum { ZLIB_NO_FLUSH = 0, ZLIB_FINISH = 4, ZLIB_OK = 0, ZLIB_STREAM_END = 1, ZLIB_NO_PROGRESS = -5, ZLIB_DEFLATED = 8, ZLIB_RAW = -15 };
#endif
