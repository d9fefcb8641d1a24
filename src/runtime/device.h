/* device.h: where evaluations run: one struct of functions a device.
 *
 * How it works: an evaluation belongs to its thread's current device; its plan is made for that device's profile, and its
 * results lie there. Memory that lies elsewhere is read through a copy, which the buffer keeps for the next reader. Which
 * operations there are, and what plans look like, must not matter here. */
#ifndef KILN_DEVICE_H
#define KILN_DEVICE_H
#include "ir/graph/graph.h"
#include "ir/plan/plan.h"

typedef struct device device;
/* Every function may be called by any number of threads. What is asked of a device happens in the order in which it is asked;
 * nothing but download and finish waits for it. Addresses are the device's own. */
struct device {
    kn_device kind;
    const char *profile;                  /* of the schedules */
    const char *what;                     /* "NVIDIA H200, sm_90, driver 13.0", for people */
    buffer *(*memory)(device *d, int64_t bytes, message *m);                  /* not cleared, 64-byte aligned at least */
    kn_status (*upload)(device *d, void *to, const void *from, size_t n, message *m);     /* from the host; `from` is free for use afterwards */
    kn_status (*download)(device *d, void *to, const void *from, size_t n, message *m);   /* to the host; waits */
    kn_status (*copy)(device *d, void *to, const void *from, size_t n, message *m);
    kn_status (*clear)(device *d, void *to, size_t n, message *m);
    /* Code for kernel IR, found or made; never NULL without a message. Counted: kernel_drop. */
    void *(*kernel)(device *d, const kernel *k, message *m);
    void (*kernel_drop)(device *d, void *code);
    kn_status (*launch)(device *d, void *code, const plan_step *s, const uint64_t *args, uint64_t *fault, message *m);
    /* Where libraries put their own work on the device, which becomes the thread's; NULL with a message, or on the CPU. */
    void *(*queue)(device *d, message *m);
    kn_status (*wait)(device *d, message *m);     /* until all that was asked is done */
    /* After the last step of a plan that has faults: *fault is the smallest that its kernels found, else unchanged. */
    kn_status (*finish)(device *d, uint64_t *fault, message *m);
};

/* The device of a kind, opened when it is first asked for; NULL with KN_NOT_AVAILABLE and a sentence that says what is
 * missing. KN_CURRENT_DEVICE: the thread's. */
device *device_open(kn_device kind, message *m);
/* The calling thread's device: KILN_DEVICE=cpu|cuda|hip at first, else the CPU. */
device *device_current(void);
kn_status device_choose(kn_device kind, message *m);
/* b where d can reach it: b itself, or a copy that b keeps. A new reference. */
buffer *device_reach(device *d, buffer *b, message *m);
device *device_cpu(void);
#endif
