/* errors.c: errors as users see them: the thread's last sentence and the callback.
 *
 * Error arrays themselves are slots (array.c); which sentence a failure has is written where it is found. */
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"

static _Thread_local message last;
static struct { kn_error_callback *f; void *arg; } callback;   /* the documented process-wide registry of kn_on_error */

void error_record(const message *m) {
    last = *m;
    scope_error(m->status);
    kn_error_callback *f = __atomic_load_n(&callback.f, __ATOMIC_ACQUIRE);
    if (f) f(last.status, last.text, callback.arg);
}

const char *kn_error(void) { return last.status ? last.text : ""; }

kn_status kn_error_status(void) { return last.status; }

void kn_error_clear(void) { last.status = KN_OK; }

void kn_on_error(kn_error_callback *f, void *arg) {
    callback.arg = arg;
    __atomic_store_n(&callback.f, f, __ATOMIC_RELEASE);
}

kn_status kn_check(kn_array a) {
    slot *s = slot_of(a);
    if (!s) return KN_SCOPE_ERROR;
    return s->kind == SLOT_ERROR ? s->u.error->status : KN_OK;
}

const char *kn_message(kn_array a) {
    slot *s = slot_of(a);
    if (s && s->kind == SLOT_ERROR) return s->u.error->text;
    if (s) return "";
    return a.id ? "this array is gone: the scope it belonged to was closed, or it was released" : "this is no array (KN_NONE)";
}
