#include "text.h"

#include <stdint.h>
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define WIDE 16
#endif

static int hex_digit(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Read four hexadecimal digits; -1 if there are none. */
static int32_t read_unit(At at, At end)
{
    int32_t unit = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* Read a code point after `\u`, with its second surrogate if it has one. */
static At read_point(At at, At end, int32_t *point)
{
    int32_t unit = read_unit(at, end);
    if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF))
        return NULL;
    at += 4;
    if (unit >= 0xD800 && unit <= 0xDBFF) {
        if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
            return NULL;
        int32_t low = read_unit(at + 2, end);
        if (low < 0xDC00 || low > 0xDFFF)
            return NULL;
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        at += 6;
    }
    *point = unit;
    return at;
}

/* A call in a text begins with one of these: `<`, `[` and U+273F. */
static bool is_mark(int32_t point) { return point == '<' || point == '[' || point == 0x273F; }

static At read_escape(At at, At end, Text *text)
{
    int32_t point;
    if (at >= end)
        return NULL;
    switch (*at) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
        return at + 1;
    case 'u':
        at = read_point(at + 1, end, &point);
        if (at && is_mark(point))
            text->marked = true;
        return at;
    default:
        return NULL;
    }
}

static bool follows_on(At at, int count)
{
    for (int i = 1; i <= count; i++)
        if ((at[i] & 0xC0) != 0x80)
            return false;
    return true;
}

/* Read one non-ASCII character of valid UTF-8 (RFC 3629: shortest form, no surrogates, below U+110000). */
static At read_wide(At at, At end, Text *text)
{
    unsigned char first = at[0];
    if (first >= 0xC2 && first <= 0xDF)
        return end - at >= 2 && follows_on(at, 1) ? at + 2 : NULL;
    if (first >= 0xE0 && first <= 0xEF) {
        if (end - at < 3 || !follows_on(at, 2) || (first == 0xE0 && at[1] < 0xA0) || (first == 0xED && at[1] > 0x9F))
            return NULL;
        if (first == 0xE2 && at[1] == 0x9C && at[2] == 0xBF)
            text->marked = true;
        return at + 3;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        if (end - at < 4 || !follows_on(at, 3) || (first == 0xF0 && at[1] < 0x90) || (first == 0xF4 && at[1] > 0x8F))
            return NULL;
        return at + 4;
    }
    return NULL;
}

#ifdef WIDE
static int lowest(unsigned bits)
{
#ifdef __GNUC__
    return __builtin_ctz(bits);
#else
    int place = 0;
    for (; !(bits & 1); bits >>= 1)
        place++;
    return place;
#endif
}
#endif

/* Skip the characters of a text that need no further check. */
static At glide(At at, At end, Text *text)
{
#ifdef WIDE
    const __m128i space = _mm_set1_epi8(0x20), quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
    const __m128i less = _mm_set1_epi8('<'), square = _mm_set1_epi8('[');
    while (end - at >= WIDE) {
        __m128i some = _mm_loadu_si128((const __m128i *)at);
        /* As signed bytes, control characters and non-ASCII bytes are less than the space. */
        __m128i stops = _mm_or_si128(_mm_cmplt_epi8(some, space),
                                     _mm_or_si128(_mm_cmpeq_epi8(some, quote), _mm_cmpeq_epi8(some, slash)));
        unsigned stop = (unsigned)_mm_movemask_epi8(stops);
        unsigned marks =
            (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(some, less), _mm_cmpeq_epi8(some, square)));
        if (stop) {
            if (marks & ((stop & (0u - stop)) - 1))
                text->marked = true;
            return at + lowest(stop);
        }
        if (marks)
            text->marked = true;
        at += WIDE;
    }
#endif
    while (at < end && *at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\') {
        if (is_mark(*at))
            text->marked = true;
        at++;
    }
    return at;
}

At read_text(At at, At end, Text *text)
{
    if (at >= end || *at != '"')
        return NULL;
    text->start = ++at;
    text->plain = true;
    text->marked = false;
    while (at) {
        at = glide(at, end, text);
        if (at >= end)
            return NULL;
        if (*at == '"') {
            text->end = at;
            return at + 1;
        }
        if (*at == '\\') {
            text->plain = false;
            at = read_escape(at + 1, end, text);
        } else if (*at >= 0x80) {
            do
                at = read_wide(at, end, text);
            while (at && at < end && *at >= 0x80);
        } else {
            return NULL;
        }
    }
    return NULL;
}

static bool is_digit(At at, At end) { return at < end && *at >= '0' && *at <= '9'; }

/* Read a number that all programs decode alike: at most 17 integer digits and a small exponent. */
static At read_number(At at, At end)
{
    if (at < end && *at == '-')
        at++;
    At digits = at;
    if (!is_digit(at, end) || (*at == '0' && is_digit(at + 1, end)))
        return NULL;
    while (is_digit(at, end))
        at++;
    if (at - digits > 17)
        return NULL;
    if (at < end && *at == '.') {
        at++;
        if (!is_digit(at, end))
            return NULL;
        while (is_digit(at, end))
            at++;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        At power = at;
        while (is_digit(at, end))
            at++;
        if (at == power || at - power > 2)
            return NULL;
    }
    return at;
}

static At read_word(At at, At end, const char *word, size_t size)
{
    return (size_t)(end - at) >= size && memcmp(at, word, size) == 0 ? at + size : NULL;
}

At enter(At at, At end, unsigned char open, unsigned char close, bool *more)
{
    if (at >= end || *at != open)
        return NULL;
    at = skip_space(at + 1, end);
    *more = !(at < end && *at == close);
    return *more ? at : at + 1;
}

At onward(At at, At end, unsigned char close, bool *more)
{
    at = skip_space(at, end);
    if (at >= end)
        return NULL;
    *more = *at == ',';
    if (*more)
        return skip_space(at + 1, end);
    return *at == close ? at + 1 : NULL;
}

At read_key(At at, At end, Text *key)
{
    at = read_text(at, end, key);
    if (!at || !key->plain)
        return NULL;
    at = skip_space(at, end);
    return at < end && *at == ':' ? skip_space(at + 1, end) : NULL;
}

At read_scalar(At at, At end)
{
    Text text;
    if (at >= end)
        return NULL;
    switch (*at) {
    case '"': return read_text(at, end, &text);
    case 't': return read_word(at, end, "true", 4);
    case 'f': return read_word(at, end, "false", 5);
    case 'n': return read_word(at, end, "null", 4);
    default: return read_number(at, end);
    }
}

At skip_value(At at, At end)
{
    Text text;
    size_t depth = 0;
    if (at >= end)
        return NULL;
    if (*at != '"' && *at != '{' && *at != '[') {
        while (at < end && *at != ',' && *at != '}' && *at != ']')
            at++;
        return at;
    }
    while (at < end) {
        if (*at == '"') {
            at = read_text(at, end, &text);
            if (!at)
                return NULL;
        } else {
            depth += *at == '{' || *at == '[';
            depth -= *at == '}' || *at == ']';
            at++;
        }
        if (depth == 0)
            return at;
    }
    return NULL;
}

static unsigned char *put_point(int32_t point, unsigned char *into)
{
    if (point < 0x80) {
        *into++ = (unsigned char)point;
    } else if (point < 0x800) {
        *into++ = (unsigned char)(0xC0 | point >> 6);
        *into++ = (unsigned char)(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        *into++ = (unsigned char)(0xE0 | point >> 12);
        *into++ = (unsigned char)(0x80 | (point >> 6 & 0x3F));
        *into++ = (unsigned char)(0x80 | (point & 0x3F));
    } else {
        *into++ = (unsigned char)(0xF0 | point >> 18);
        *into++ = (unsigned char)(0x80 | (point >> 12 & 0x3F));
        *into++ = (unsigned char)(0x80 | (point >> 6 & 0x3F));
        *into++ = (unsigned char)(0x80 | (point & 0x3F));
    }
    return into;
}

size_t unescape(const Text *text, unsigned char *into)
{
    static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
    unsigned char *start = into;
    At at = text->start;
    while (at < text->end) {
        At slash = memchr(at, '\\', (size_t)(text->end - at));
        size_t size = (size_t)((slash ? slash : text->end) - at);
        memcpy(into, at, size);
        into += size;
        if (!slash)
            break;
        at = slash + 1;
        if (*at == 'u') {
            int32_t point = 0;
            at = read_point(at + 1, text->end, &point);
            into = put_point(point, into);
        } else {
            const char *name = strchr(names, *at);
            *into++ = name ? (unsigned char)meant[name - names] : *at;
            at++;
        }
    }
    return (size_t)(into - start);
}
