/* loader.c: an ELF relocatable object becomes callable code.
 *
 * How it works: the sections that are loaded (code, constants) are laid out in one mapping, copied and relocated while it is
 * writable, and then made executable; it is never both. The object may come from a file: every offset, size, index and
 * alignment in it is checked before it is used. Calls of memcpy, memset and memmove go through stubs behind the code, so
 * that 32-bit displacements reach them; any other undefined symbol means the code is not used.
 * Who made the object, and what the code computes, must not be put here. */
#define _GNU_SOURCE
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "codegen/codegen.h"

#define MOST_SECTIONS 256
#define STUB_BYTES 16
#define MOST_BYTES ((size_t)64 << 20)

struct cpu_code { char *pages; size_t size; cpu_entry entry; };

typedef struct object {
    const unsigned char *at; size_t size;
    Elf64_Ehdr head;
    Elf64_Shdr section[MOST_SECTIONS]; int nsections;
    size_t place[MOST_SECTIONS];             /* offset in the mapping, of loaded sections */
    bool loaded[MOST_SECTIONS];
    int symbols;                             /* section of the symbol table */
    char *pages; size_t total, stubs;
    message *m;
} object;

static void *address_memcpy(void) { return (void *)(uintptr_t)memcpy; }
static void *address_memset(void) { return (void *)(uintptr_t)memset; }
static void *address_memmove(void) { return (void *)(uintptr_t)memmove; }
static const struct { const char *name; void *(*address)(void); } allowed[] = {
    { "memcpy", address_memcpy }, { "memset", address_memset }, { "memmove", address_memmove },
};
#define NALLOWED (int)(sizeof allowed / sizeof *allowed)

static kn_status refuse(object *o, const char *why) { return fail(o->m, KN_FILE_ERROR, "compiled code cannot be loaded: %s", why); }

static bool inside(const object *o, uint64_t offset, uint64_t size) { return offset <= o->size && size <= o->size - offset; }

static const char *text_at(const object *o, uint32_t table, uint64_t offset) {
    if (table >= (uint32_t)o->nsections) return NULL;
    const Elf64_Shdr *s = &o->section[table];
    if (s->sh_type != SHT_STRTAB || offset >= s->sh_size || !inside(o, s->sh_offset, s->sh_size)) return NULL;
    const char *p = (const char *)o->at + s->sh_offset + offset;
    return memchr(p, 0, (size_t)(s->sh_size - offset)) ? p : NULL;
}

static kn_status read_head(object *o) {
    if (o->size < sizeof o->head) return refuse(o, "it is too short");
    memcpy(&o->head, o->at, sizeof o->head);
    const Elf64_Ehdr *h = &o->head;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_REL)
        return refuse(o, "it is no relocatable 64-bit object");
#if defined(__x86_64__)
    if (h->e_machine != EM_X86_64) return refuse(o, "it is for another processor");
#else
    return fail(o->m, KN_NOT_AVAILABLE, "compiled code cannot be loaded on this processor yet");
#endif
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum == 0 || h->e_shnum > MOST_SECTIONS) return refuse(o, "its sections are out of bounds");
    o->nsections = h->e_shnum;
    if (!inside(o, h->e_shoff, (uint64_t)o->nsections * sizeof(Elf64_Shdr))) return refuse(o, "its section table is out of bounds");
    memcpy(o->section, o->at + h->e_shoff, (size_t)o->nsections * sizeof(Elf64_Shdr));
    return KN_OK;
}

/* Gives every section that is loaded its place; writable data is not accepted, since pages end up read-only. */
static kn_status lay_out(object *o) {
    size_t at = 0;
    o->symbols = -1;
    for (int i = 0; i < o->nsections; i++) {
        const Elf64_Shdr *s = &o->section[i];
        if (s->sh_type == SHT_SYMTAB) o->symbols = i;
        if (!(s->sh_flags & SHF_ALLOC) || s->sh_size == 0) continue;
        const char *name = text_at(o, o->head.e_shstrndx, s->sh_name);
        if (!name) return refuse(o, "a section has no name");
        if (!strncmp(name, ".eh_frame", 9) || s->sh_type == SHT_NOTE) continue;
        if (s->sh_type == SHT_NOBITS || (s->sh_flags & SHF_WRITE && strncmp(name, ".data.rel.ro", 12))) return refuse(o, "it has data that changes");
        if (s->sh_type != SHT_PROGBITS || !inside(o, s->sh_offset, s->sh_size)) return refuse(o, "a section is out of bounds");
        size_t align = s->sh_addralign ? (size_t)s->sh_addralign : 1;
        if (align & (align - 1) || align > 4096) return refuse(o, "a section's alignment is no power of two up to 4096");
        at = (at + align - 1) & ~(align - 1);
        o->place[i] = at;
        o->loaded[i] = true;
        at += (size_t)s->sh_size;
        if (at > MOST_BYTES) return refuse(o, "it is too large");
    }
    o->stubs = (at + STUB_BYTES - 1) / STUB_BYTES * STUB_BYTES;
    o->total = o->stubs + (size_t)NALLOWED * STUB_BYTES;
    return KN_OK;
}

static void put32(char *p, int64_t v) {
    int32_t w = (int32_t)v;
    memcpy(p, &w, sizeof w);
}

/* jmp *[rip + 2]; two bytes of filling; the address */
static void make_stubs(object *o) {
    static const unsigned char jump[8] = { 0xff, 0x25, 0x02, 0, 0, 0, 0x90, 0x90 };
    for (int i = 0; i < NALLOWED; i++) {
        char *p = o->pages + o->stubs + i * STUB_BYTES;
        void *address = allowed[i].address();
        memcpy(p, jump, sizeof jump);
        memcpy(p + sizeof jump, &address, sizeof address);
    }
}

static bool read_symbol(const object *o, uint64_t index, Elf64_Sym *out) {
    const Elf64_Shdr *s = &o->section[o->symbols];
    if (s->sh_entsize != sizeof *out || !inside(o, s->sh_offset, s->sh_size) || index >= s->sh_size / sizeof *out) return false;
    memcpy(out, o->at + s->sh_offset + index * sizeof *out, sizeof *out);
    return true;
}

/* Offset in the mapping of what a symbol names. */
static kn_status symbol_place(object *o, uint64_t index, size_t *place) {
    *place = 0;
    Elf64_Sym s;
    if (!read_symbol(o, index, &s)) return refuse(o, "a symbol is out of bounds");
    if (s.st_shndx == SHN_UNDEF) {
        const char *name = text_at(o, o->section[o->symbols].sh_link, s.st_name);
        for (int i = 0; name && i < NALLOWED; i++)
            if (!strcmp(name, allowed[i].name)) { *place = o->stubs + (size_t)i * STUB_BYTES; return KN_OK; }
        return fail(o->m, KN_NOT_AVAILABLE, "compiled code calls %.64s, which is not provided; it is interpreted instead", name ? name : "something without a name");
    }
    if (s.st_shndx >= (unsigned)o->nsections || !o->loaded[s.st_shndx] || s.st_value > o->section[s.st_shndx].sh_size) return refuse(o, "a symbol is out of bounds");
    *place = o->place[s.st_shndx] + (size_t)s.st_value;
    return KN_OK;
}

static kn_status relocate_one(object *o, int target, const Elf64_Rela *r) {
    uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info), width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
    uint64_t size = o->section[target].sh_size;
    size_t place;
    if (r->r_offset > size || width > size - r->r_offset) return refuse(o, "a relocation is out of bounds");
    kn_status status = symbol_place(o, ELF64_R_SYM(r->r_info), &place);
    if (status) return status;
    if (r->r_addend > (int64_t)MOST_BYTES || r->r_addend < -(int64_t)MOST_BYTES) return refuse(o, "a relocation is out of bounds");
    char *at = o->pages + o->place[target] + r->r_offset;
    int64_t to = (int64_t)place + r->r_addend, from = (int64_t)(o->place[target] + r->r_offset);
    uint64_t absolute = (uint64_t)(uintptr_t)o->pages + (uint64_t)to;
    int64_t relative = to - from;
    switch (type) {
    case R_X86_64_PC32: case R_X86_64_PLT32: put32(at, relative); return KN_OK;
    case R_X86_64_PC64: memcpy(at, &relative, sizeof relative); return KN_OK;
    case R_X86_64_64: memcpy(at, &absolute, sizeof absolute); return KN_OK;
    default: return fail(o->m, KN_NOT_AVAILABLE, "compiled code has a relocation of type %u, which is not supported", type);
    }
}

static kn_status relocate(object *o) {
    for (int i = 0; i < o->nsections; i++) {
        const Elf64_Shdr *s = &o->section[i];
        if (s->sh_type == SHT_REL) return refuse(o, "its relocations have no addends");
        if (s->sh_type != SHT_RELA) continue;
        if (s->sh_info >= (unsigned)o->nsections) return refuse(o, "a relocation is out of bounds");
        if (!o->loaded[s->sh_info]) continue;
        if (s->sh_entsize != sizeof(Elf64_Rela) || !inside(o, s->sh_offset, s->sh_size) || o->symbols < 0) return refuse(o, "a relocation is out of bounds");
        for (uint64_t j = 0; j < s->sh_size / sizeof(Elf64_Rela); j++) {
            Elf64_Rela r;
            memcpy(&r, o->at + s->sh_offset + j * sizeof r, sizeof r);
            kn_status status = relocate_one(o, (int)s->sh_info, &r);
            if (status) return status;
        }
    }
    return KN_OK;
}

static kn_status find_entry(object *o, const char *entry, size_t *place) {
    if (o->symbols < 0) return refuse(o, "it has no symbols");
    uint64_t n = o->section[o->symbols].sh_size / sizeof(Elf64_Sym);
    for (uint64_t i = 0; i < n; i++) {
        Elf64_Sym s;
        if (!read_symbol(o, i, &s)) return refuse(o, "a symbol is out of bounds");
        if (s.st_shndx == SHN_UNDEF || s.st_shndx >= (unsigned)o->nsections || !o->loaded[s.st_shndx]) continue;
        const char *name = text_at(o, o->section[o->symbols].sh_link, s.st_name);
        if (!name || strcmp(name, entry)) continue;
        if (!(o->section[s.st_shndx].sh_flags & SHF_EXECINSTR) || s.st_value >= o->section[s.st_shndx].sh_size) return refuse(o, "its entry is no code");
        *place = o->place[s.st_shndx] + (size_t)s.st_value;
        return KN_OK;
    }
    return refuse(o, "it has no entry of that name");
}

static kn_status map_and_relocate(object *o, size_t mapped) {
    o->pages = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (o->pages == MAP_FAILED) return fail_memory(o->m, "loading compiled code");
    for (int i = 0; i < o->nsections; i++) if (o->loaded[i]) memcpy(o->pages + o->place[i], o->at + o->section[i].sh_offset, (size_t)o->section[i].sh_size);
    make_stubs(o);
    kn_status status = relocate(o);
    if (!status && mprotect(o->pages, mapped, PROT_READ | PROT_EXEC)) status = fail(o->m, KN_NOT_AVAILABLE, "this system does not let programs run code they have made");
    if (status) munmap(o->pages, mapped);
    return status;
}

kn_status code_load(const void *bytes, size_t size, const char *entry, cpu_code **code, message *m) {
    cpu_code *c = mem_alloc(sizeof *c);
    object *o = mem_zero(1, sizeof *o);
    kn_status status = c && o ? KN_OK : fail_memory(m, "loading compiled code");
    size_t place = 0, page = (size_t)sysconf(_SC_PAGESIZE);
    *code = NULL;
    if (!status) {
        *o = (object){ .at = bytes, .size = size, .m = m };
        status = read_head(o);
    }
    if (!status) status = lay_out(o);
    if (!status) status = find_entry(o, entry, &place);
    size_t mapped = status ? 0 : (o->total + page - 1) / page * page;
    if (!status) status = map_and_relocate(o, mapped);
    if (!status) {
        *c = (cpu_code){ .pages = o->pages, .size = mapped };
        void *start = o->pages + place;
        memcpy(&c->entry, &start, sizeof start);
        *code = c;
    } else {
        mem_free(c);
    }
    mem_free(o);
    return status;
}

cpu_entry code_entry(const cpu_code *c) { return c->entry; }

void code_free(cpu_code *c) {
    if (!c) return;
    munmap(c->pages, c->size);
    mem_free(c);
}
