/* errors.c: errors as users see them: the thread's last sentence and the callback.
 *
 * Error arrays themselves are slots (array.c); which sentence a failure has is written where it is found. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"

static _Thread_local message last;
static _Thread_local bool calling;        /* a callback that makes errors is not called for them */
static _Thread_local bool held;           /* a program runs that may handle its errors itself */

/* The documented process-wide registry of kn_on_error. */
static struct { pthread_mutex_t mutex; kn_error_callback *f; void *arg; } callback = { .mutex = PTHREAD_MUTEX_INITIALIZER };

void error_repeat(const message *m) {
    if (m != &last) last = *m;
    if (!held) scope_error(m->status);
}

bool errors_hold(message *before) {
    bool was = held;
    held = true;
    before->status = last.status;
    if (last.status) *before = last;
    return was;
}

void errors_go(bool was, const message *before) {
    held = was;
    last.status = before->status;
    if (last.status) last = *before;
}

void error_record(const message *m) {
    error_repeat(m);
    if (calling || held) return;
    pthread_mutex_lock(&callback.mutex);
    kn_error_callback *f = callback.f;
    void *arg = callback.arg;
    pthread_mutex_unlock(&callback.mutex);
    if (!f) return;
    message copy = last;
    calling = true;
    f(copy.status, copy.text, arg);
    calling = false;
}

const char *kn_error(void) { return last.status ? last.text : ""; }

kn_status kn_error_status(void) { return last.status; }

void kn_error_clear(void) { last.status = KN_OK; }

void kn_on_error(kn_error_callback *f, void *arg) {
    pthread_mutex_lock(&callback.mutex);
    callback.f = f;
    callback.arg = arg;
    pthread_mutex_unlock(&callback.mutex);
}

kn_status kn_check(kn_array a) {
    message m = { 0 };
    if (!slot_of(a)) return KN_SCOPE_ERROR;
    return array_failed(a, &m) ? m.status : KN_OK;
}

static const char *message_of_gone(kn_array a) {
    static _Thread_local char sentence[128];
    scope_place at;
    if (!a.id) return "this is no array (KN_NONE)";
    if (!handle_gone(a, &at)) return "this array is gone: the scope it belonged to was closed, or it was released";
    snprintf(sentence, sizeof sentence, "this array is gone: it went with the scope opened at %s:%d; hand it out with kn_return", at.file, (int)at.line);
    return sentence;
}

const char *kn_message(kn_array a) {
    slot *s = slot_of(a);
    if (!s) return message_of_gone(a);
    if (s->kind == SLOT_ERROR) return s->u.error->text;
    message m = { 0 };
    if (s->kind != SLOT_ARRAY || !array_failed(a, &m)) return "";
    char *text = scope_text(m.text, strlen(m.text));
    return text ? text : "the computation failed";
}
