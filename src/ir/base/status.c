/* status.c: the one sentence that a failure leaves behind.
 *
 * How it works: a `message` keeps the first failure it is given; later ones only pass their status on. A sentence that
 * does not fit ends in "..." after a whole character. Nothing here allocates. No wording of a particular error may be
 * put here: the caller knows what went wrong. */
#include "ir/base/base.h"

#include <stdio.h>
#include <string.h>

/* Ends a sentence that was cut at MESSAGE_MAX - 1 bytes in "..." without splitting a UTF-8 character. */
static void mark_as_cut(char *sentence)
{
    static const char dots[] = "...";
    size_t end = MESSAGE_MAX - sizeof dots;
    while (end > 0 && ((unsigned char)sentence[end] & 0xC0) == 0x80)
        end--;
    memcpy(sentence + end, dots, sizeof dots);
}

kn_status fail(message *m, kn_status status, const char *format, ...)
{
    if (m == NULL || m->status != KN_OK)
        return status;
    m->status = status;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(m->text, sizeof m->text, format, args);
    va_end(args);
    if (length < 0)
        m->text[0] = '\0';
    else if ((size_t)length >= sizeof m->text)
        mark_as_cut(m->text);
    return status;
}

kn_status fail_memory(message *m, const char *what)
{
    return fail(m, KN_MEMORY_ERROR, "out of memory while %s", what);
}

const char *status_name(kn_status status)
{
    switch (status) {
    case KN_OK: return "OK";
    case KN_VALUE_ERROR: return "ValueError";
    case KN_TYPE_ERROR: return "TypeError";
    case KN_INDEX_ERROR: return "IndexError";
    case KN_MEMORY_ERROR: return "MemoryError";
    case KN_FILE_ERROR: return "OSError";
    case KN_SCOPE_ERROR: return "ScopeError";
    case KN_ZERO_DIVISION_ERROR: return "ZeroDivisionError";
    case KN_OVERFLOW_ERROR: return "OverflowError";
    case KN_NAME_ERROR: return "NameError";
    case KN_SYNTAX_ERROR: return "SyntaxError";
    case KN_ATTRIBUTE_ERROR: return "AttributeError";
    case KN_KEY_ERROR: return "KeyError";
    case KN_ASSERTION_ERROR: return "AssertionError";
    case KN_RUNTIME_ERROR: return "RuntimeError";
    case KN_NOT_AVAILABLE: return "NotAvailableError";
    case KN_STATUS_MAX_: break;
    }
    return "UnknownError";
}
