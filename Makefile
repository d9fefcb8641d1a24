# Kiln's build. `make help` lists the targets; V=1 shows the commands.
#
# Every .c file under src/ is part of the library, except src/frontend/command/, which is the `kiln` command. Nothing is
# written outside $(BUILD) but by `make install`, `make ops` and `make exports`.
#
#   BUILD=dir        where everything is built (default: build); sanitizer builds go to $(BUILD)/asan, $(BUILD)/tsan
#   DIRS="src/ir/base src/ir/kir"   build and test with these folders alone
#   ONLY=pattern     run the test programs whose path contains this
#   JOBS=n           compile and test this many at a time
#   WERROR=1         warnings are errors (always so in `make check`)
#   CC, CFLAGS, LDFLAGS, DESTDIR, PREFIX, LIBDIR   as usual

BUILD    ?= build
DIRS     ?= src
ONLY     ?=
JOBS     ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX   ?= /usr/local
LIBDIR   ?= $(PREFIX)/lib
PYTHON   ?= python3
VENV     ?= build/venv
SANITIZE ?=
ifeq ($(origin CC),default)
CC := gcc
endif

ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(JOBS)
endif
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.SECONDARY:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' '$(1)' '$(2)';)

# ---- version: one place, kiln.h ----
version_part = $(or $(shell sed -n 's/^.define KN_VERSION_$(1) *\([0-9]*\).*/\1/p' include/kiln.h 2>/dev/null),$(2))
MAJOR   := $(call version_part,MAJOR,0)
MINOR   := $(call version_part,MINOR,1)
VERSION := $(MAJOR).$(MINOR).$(call version_part,PATCH,0)
SONAME  := libkiln.so.$(MAJOR)
SHARED  := libkiln.so.$(VERSION)

# ---- flags ----
# Beyond -Wall -Wextra -Wpedantic:
#   shadow               an inner variable that hides an outer one; hiding a type or function name is fine
#   strict-prototypes    f() must be f(void)
#   missing-prototypes   what is not static is declared in a header
#   write-strings        string literals are const
#   conversion           (folders in CONVERSION_CLEAN) no implicit change of value; sign changes are allowed
is_clang := $(findstring clang,$(shell $(CC) --version 2>/dev/null))
WARNINGS := -Wall -Wextra -Wpedantic $(if $(is_clang),-Wshadow,-Wshadow=local) -Wstrict-prototypes -Wwrite-strings
CONVERSION_CLEAN := src/ir/base

CFLAGS ?= -O2 -g
# No contraction: a*b+c rounds twice everywhere. Hidden by default: only KN_API is exported.
KILN_CFLAGS   := -std=c17 -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno $(WARNINGS) $(if $(WERROR),-Werror)
KILN_CPPFLAGS := -D_GNU_SOURCE= -Iinclude -Isrc -I$(BUILD)/gen
LIBS          := -ldl -lm -lpthread

# A sanitizer build is a plain build elsewhere with these flags. Criterion's workers cannot run under TSan, so sanitizer
# builds of the unit tests take tests/sanitizer/criterion/criterion.h instead.
SAN_address := -fsanitize=address,undefined -fno-sanitize-recover=all
SAN_thread  := -fsanitize=thread
SAN_fuzz    := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
SAN_FLAGS   := $(SAN_$(SANITIZE))
ifneq ($(SANITIZE),)
CFLAGS := -O1 -g -fno-omit-frame-pointer
endif
OUT := $(BUILD)$(if $(SANITIZE),/$(patsubst address,asan,$(patsubst thread,tsan,$(SANITIZE))))

# ---- what there is ----
SRC      := $(sort $(shell find $(DIRS) -name '*.c' 2>/dev/null))
CMD_SRC  := $(filter src/frontend/command/%,$(SRC))
LIB_SRC  := $(filter-out $(CMD_SRC),$(SRC))
KN_SRC   := $(sort $(wildcard src/device/*.kn))
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT_MORE := $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c))
SUPPORT_SRC := $(wildcard tests/support/rtc.c tests/support/cuda.c tests/support/made_kernels.c tests/support/host_source.c tests/gpu/nest*.c)
GPU_SRC  := $(sort $(wildcard tests/gpu/test_*.c))
ORACLE_SRC  := $(sort $(wildcard tests/oracle/*.c))
EXAMPLE_SRC := $(sort $(wildcard examples/*.c))
BENCH_SRC   := $(sort $(wildcard bench/*.c))
FUZZ_SRC    := $(sort $(wildcard tests/fuzz/fuzz_*.c))

has_genops := $(wildcard tools/genops.c)
has_knc    := $(and $(wildcard tools/knc.c),$(KN_SRC),$(filter src src/ir src/ir/kir,$(DIRS)))
GEN_SRC    := $(if $(has_knc),$(BUILD)/gen/kn_table.c) $(if $(and $(has_genops),$(filter src src/frontend,$(DIRS))),$(BUILD)/gen/ops_binder.c)

object   = $(patsubst $(BUILD)/gen/%.c,$(OUT)/obj/gen/%.o,$(patsubst src/%.c,$(OUT)/obj/src/%.o,$(1)))
LIB_OBJ := $(call object,$(LIB_SRC) $(strip $(GEN_SRC)))
CMD_OBJ := $(call object,$(CMD_SRC))
program  = $(patsubst $(1)/%.c,$(OUT)/$(1)/%,$(2))
UNIT_BIN    := $(call program,tests/unit,$(UNIT_SRC))
GPU_BIN     := $(call program,tests/gpu,$(GPU_SRC))
ORACLE_BIN  := $(call program,tests/oracle,$(ORACLE_SRC))
EXAMPLE_BIN := $(call program,examples,$(EXAMPLE_SRC))
BENCH_BIN   := $(call program,bench,$(BENCH_SRC))
FUZZ_BIN    := $(call program,tests/fuzz,$(FUZZ_SRC))
KILN        := $(if $(CMD_SRC),$(OUT)/kiln)

.PHONY: all deps demo check check-asan check-tsan check-gpu check-programs lint bench fuzz fuzz-programs install docs ops exports clean distclean help
all: $(if $(filter src,$(DIRS)),$(OUT)/libkiln.so) $(OUT)/libkiln.a $(KILN)

help:
	@echo 'all (default)  libkiln.so, libkiln.a and kiln          demo    build and run examples/demo.c'
	@echo 'deps           install what tests and demos need       bench   build and run the benchmarks'
	@echo 'check          everything that needs no GPU            lint    rules about the tree itself'
	@echo 'check-asan     unit tests with ASan and UBSan          fuzz    run the fuzzers, FUZZ_SECONDS each'
	@echo 'check-tsan     unit tests with TSan                    docs    print the reference from the tables'
	@echo 'check-gpu      tests that need a GPU                   install DESTDIR, PREFIX, LIBDIR'
	@echo 'ops, exports   rewrite include/kiln/ops.h, src/kiln.exports        clean, distclean'

# ---- compiling ----
compile = $(call say,CC,$<)mkdir -p $(@D) && $(CC) $(KILN_CPPFLAGS) $(CPPFLAGS) $(KILN_CFLAGS) $(CFLAGS) $(SAN_FLAGS) $(1) -MMD -MP -c $< -o $@
strict  = -Wmissing-prototypes $(if $(filter $(addsuffix /%,$(CONVERSION_CLEAN)),$(1)),-Wconversion -Wno-sign-conversion)

$(OUT)/obj/src/%.o: src/%.c | $(GEN_SRC)
	$(call compile,$(call strict,$<))
$(OUT)/obj/gen/%.o: $(BUILD)/gen/%.c
	$(call compile)
UNIT_FLAGS := $(if $(SANITIZE),-Itests/sanitizer)
$(OUT)/obj/tests/%.o: tests/%.c | $(GEN_SRC)
	$(call compile,$(UNIT_FLAGS))
$(OUT)/obj/bench/%.o: bench/%.c | $(GEN_SRC)
	$(call compile)
# Examples are compiled as a user would compile them.
$(OUT)/obj/examples/%.o: examples/%.c
	$(call say,CC,$<)mkdir -p $(@D) && $(CC) -std=c17 -Iinclude $(CPPFLAGS) $(WARNINGS) $(if $(WERROR),-Werror) $(CFLAGS) $(SAN_FLAGS) -MMD -MP -c $< -o $@

# ---- build-time tools: never instrumented, whatever is being built ----
tool_compile = $(call say,CC,$<)mkdir -p $(@D) && $(CC) $(KILN_CPPFLAGS) $(KILN_CFLAGS) -O1 -g -MMD -MP -c $< -o $@
TOOL_FLOORS := $(patsubst src/%.c,$(BUILD)/tools/obj/%.o,$(sort $(wildcard src/ir/base/*.c src/ir/kir/*.c)))
$(BUILD)/tools/obj/%.o: src/%.c
	$(tool_compile)
$(BUILD)/tools/obj/%.o: tools/%.c
	$(tool_compile)
$(BUILD)/tools/floors.a: $(TOOL_FLOORS)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^
$(BUILD)/tools/knc: $(BUILD)/tools/obj/knc.o $(BUILD)/tools/floors.a
	$(call say,LINK,$@)$(CC) $^ -lm -o $@
$(BUILD)/tools/genops: $(BUILD)/tools/obj/genops.o
	$(call say,LINK,$@)$(CC) $^ -o $@

$(BUILD)/gen/kn_table.c: $(BUILD)/tools/knc $(KN_SRC)
	$(call say,GEN,$@)mkdir -p $(@D) && $(BUILD)/tools/knc $@ $(KN_SRC)
$(BUILD)/gen/ops_binder.c: $(BUILD)/tools/genops
	$(call say,GEN,$@)mkdir -p $(@D) && $(BUILD)/tools/genops binder > $@

# ---- linking ----
$(OUT)/libkiln.a: $(LIB_OBJ) $(OUT)/sources.list
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $(LIB_OBJ)
$(OUT)/kiln.map: src/kiln.exports
	$(Q)mkdir -p $(@D) && { echo 'KILN_0.1 {'; sed -n 's/^\([a-z]\)/  \1/p' $< | sed '1s/^/  global:\n/; s/$$/;/; s/global:;/global:/'; echo '  local: *;'; echo '};'; } > $@
$(OUT)/$(SHARED): $(LIB_OBJ) $(OUT)/kiln.map $(OUT)/sources.list
	$(call say,LINK,$@)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=$(OUT)/kiln.map $(if $(SANITIZE),,-Wl,-z,defs) -Wl,-z,relro,-z,now \
	    $(CFLAGS) $(SAN_FLAGS) $(LDFLAGS) $(LIB_OBJ) $(LIBS) -o $@
$(OUT)/libkiln.so: $(OUT)/$(SHARED)
	$(Q)ln -sf $(SHARED) $(OUT)/$(SONAME) && ln -sf $(SONAME) $@
# The command is linked to the archive: one file, and no symbol look-up when it starts.
link_static = $(call say,LINK,$@)mkdir -p $(@D) && $(CC) $(CFLAGS) $(SAN_FLAGS) $(LDFLAGS) $(filter %.o %.a,$^) $(LIBS) $(1) -o $@
$(OUT)/kiln: $(CMD_OBJ) $(OUT)/libkiln.a
	$(call link_static)

# Changes when a source file comes or goes, so that removed files leave the library too.
$(OUT)/sources.list: force
	$(Q)mkdir -p $(@D) && echo '$(LIB_OBJ)' | cmp -s - $@ || echo '$(LIB_OBJ)' > $@
.PHONY: force

# What tests and benchmarks share; a program takes what it needs.
$(OUT)/tests/support.a: $(patsubst %.c,$(OUT)/obj/%.o,$(SUPPORT_SRC))
	$(call say,AR,$@)mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^
$(OUT)/tests/unit/%: $(OUT)/obj/tests/unit/%.o $(patsubst %.c,$(OUT)/obj/%.o,$(UNIT_MORE)) $(OUT)/tests/support.a $(OUT)/libkiln.a
	$(call link_static,$(if $(SANITIZE),,-lcriterion))
$(OUT)/tests/gpu/%: $(OUT)/obj/tests/gpu/%.o $(patsubst %.c,$(OUT)/obj/%.o,$(UNIT_MORE)) $(OUT)/tests/support.a $(OUT)/libkiln.a
	$(call link_static,$(if $(SANITIZE),,-lcriterion))
$(OUT)/tests/oracle/%: $(OUT)/obj/tests/oracle/%.o $(OUT)/libkiln.a
	$(call link_static)
$(OUT)/tests/fuzz/%: $(OUT)/obj/tests/fuzz/%.o $(OUT)/libkiln.a
	$(call link_static,-fsanitize=fuzzer)
$(OUT)/bench/%: $(OUT)/obj/bench/%.o $(OUT)/tests/support.a $(OUT)/libkiln.a
	$(call link_static)
$(OUT)/examples/%: $(OUT)/obj/examples/%.o $(OUT)/libkiln.so
	$(call say,LINK,$@)mkdir -p $(@D) && $(CC) $(CFLAGS) $(SAN_FLAGS) $(LDFLAGS) $< -L$(OUT) -lkiln -lm '-Wl,-rpath,$$ORIGIN/..' -o $@

# ---- tests ----
deps: $(VENV)/.complete
$(VENV)/.complete: tools/deps tests/requirements.txt
	$(Q)tools/deps $(VENV)

only = $(if $(ONLY),$(foreach t,$(1),$(if $(findstring $(ONLY),$(t)),$(t))),$(1))
SCRIPTS     := $(sort $(wildcard tests/oracle/test_*.py tests/shell/test_*.sh tests/shell/test_*.py))
GPU_SCRIPTS := $(sort $(wildcard tests/gpu/test_*.py tests/gpu/test_*.sh))
RUN = $(PYTHON) tests/run --build $(OUT) --jobs $(JOBS) --venv $(VENV) $(if $(SANITIZE),--sanitizer $(SANITIZE))

check-programs: all $(call only,$(UNIT_BIN) $(ORACLE_BIN) $(if $(SANITIZE),,$(EXAMPLE_BIN)))

check: deps
	@$(MAKE) --no-print-directory -k WERROR=1 check-programs || built=--build-failed; \
	$(RUN) $$built $(call only,$(UNIT_BIN) $(SCRIPTS) tools/lint)
check-asan: deps
	@$(MAKE) --no-print-directory SANITIZE=address check-sanitized
check-tsan: deps
	@$(MAKE) --no-print-directory SANITIZE=thread check-sanitized
.PHONY: check-sanitized
check-sanitized:
	@$(MAKE) --no-print-directory -k check-programs || built=--build-failed; \
	$(RUN) $$built $(call only,$(UNIT_BIN) $(shell grep -ls '^# also under sanitizers' $(SCRIPTS) /dev/null))
check-gpu: deps
	@$(MAKE) --no-print-directory -k check-programs $(GPU_BIN) || built=--build-failed; \
	$(RUN) $$built --serial $(call only,$(GPU_BIN) $(GPU_SCRIPTS))

lint: all
	@$(PYTHON) tools/lint --build $(OUT) --cc $(CC)

FUZZ_SECONDS ?= 60
fuzz-programs: $(FUZZ_BIN)
fuzz:
	@$(MAKE) --no-print-directory SANITIZE=fuzz CC=clang fuzz-programs
	@for f in $(basename $(notdir $(FUZZ_SRC))); do \
	    echo "$$f"; mkdir -p $(BUILD)/fuzz/corpus/$$f; \
	    $(BUILD)/fuzz/tests/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -artifact_prefix=$(BUILD)/fuzz/ \
	        $(BUILD)/fuzz/corpus/$$f $$(ls -d tests/fuzz/corpus/$$f 2>/dev/null) || exit 1; done

bench: all $(BENCH_BIN)
	@if [ -e bench/run ]; then bench/run $(BUILD) $(VENV); else for b in $(BENCH_BIN); do $$b || exit 1; done; fi

demo: deps all $(OUT)/examples/demo
	@$(VENV)/bin/python examples/demo.py make $(BUILD)/demo
	@$(OUT)/examples/demo $(BUILD)/demo
	@$(VENV)/bin/python examples/demo.py compare $(BUILD)/demo

# ---- what is printed from the tables ----
ops: $(BUILD)/tools/genops
	$(Q)$(BUILD)/tools/genops header > $(BUILD)/ops.h && cmp -s $(BUILD)/ops.h include/kiln/ops.h || cp $(BUILD)/ops.h include/kiln/ops.h
exports: $(LIB_OBJ)
	$(Q)tools/lint --build $(OUT) --write-exports $(LIB_OBJ)
docs: $(if $(has_genops),$(BUILD)/docs/operations.md $(BUILD)/docs/ops.json)
$(BUILD)/docs/operations.md: $(BUILD)/tools/genops
	$(call say,GEN,$@)mkdir -p $(@D) && $(BUILD)/tools/genops reference > $@
$(BUILD)/docs/ops.json: $(BUILD)/tools/genops
	$(call say,GEN,$@)mkdir -p $(@D) && $(BUILD)/tools/genops json > $@

# ---- installing ----
# The installed archive is one object with hidden symbols made local, so that it clashes with nothing of the program.
$(OUT)/static/libkiln.a: $(LIB_OBJ) $(OUT)/sources.list
	$(call say,AR,$@)mkdir -p $(@D) && $(CC) -r -nostdlib $(LIB_OBJ) -o $(@D)/kiln.o && objcopy --localize-hidden $(@D)/kiln.o && rm -f $@ && ar rcs $@ $(@D)/kiln.o
MAN := $(sort $(wildcard docs/man/*.[1-9]))
install: all $(OUT)/static/libkiln.a
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include/kiln
	install -m 755 $(OUT)/$(SHARED) $(DESTDIR)$(LIBDIR)/$(SHARED)
	ln -sf $(SHARED) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libkiln.so
	install -m 644 $(OUT)/static/libkiln.a $(DESTDIR)$(LIBDIR)/libkiln.a
	$(if $(wildcard include/*.h),install -m 644 $(wildcard include/*.h) $(DESTDIR)$(PREFIX)/include)
	install -m 644 $(wildcard include/kiln/*.h) $(DESTDIR)$(PREFIX)/include/kiln
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' tools/kiln.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/kiln.pc
	$(if $(KILN),install -d $(DESTDIR)$(PREFIX)/bin && install -m 755 $(KILN) $(DESTDIR)$(PREFIX)/bin/kiln)
	$(foreach m,$(MAN),install -d $(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(m))) && install -m 644 $(m) $(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(m)))/ &&) true

clean:
	$(Q)find $(BUILD) -mindepth 1 -maxdepth 1 ! -path '$(VENV)' -exec rm -rf {} + 2>/dev/null || true
distclean: clean
	$(Q)rm -rf $(BUILD) $(VENV)

-include $(shell find $(OUT)/obj $(BUILD)/tools/obj -name '*.d' 2>/dev/null)
