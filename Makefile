# SPDX-License-Identifier: GPL-2.0
# `make help` says what there is.
#
# Nothing is looked up while this file is read: `make demo` and `make check` work
# on a machine that has no compiler yet, install one, and call make again.

VERSION	:= $(shell sed -n 's/^\#define CB_VERSION[^"]*"\([^"]*\)".*/\1/p' module/record.h)
KDIR	?= /lib/modules/$(shell uname -r)/build
PREFIX	?= /usr/local
CC	?= cc
CFLAGS	?= -O2 -g

SRC	:= $(sort $(wildcard scripts/clearbench/*.c))
OBJ	:= $(SRC:scripts/clearbench/%.c=build/obj/%.o)
PACKAGES := libkmod jansson
# Expanded in recipes only, after the packages were asked for.
PKG_CFLAGS = $(shell pkg-config --cflags $(PACKAGES))
PKG_LIBS   = $(shell pkg-config --libs $(PACKAGES))
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -Wall -Wextra $(CFLAGS) $(PKG_CFLAGS)

.PHONY: all module program workloads check check-long check-unit demo bench calibrate lint \
	install uninstall clean help tools
.DELETE_ON_ERROR:

all: module program

## module: module/clearbench.ko, against KDIR (the running kernel's headers)
module:
	@if [ -f "$(KDIR)/Makefile" ]; then \
		$(MAKE) -C "$(KDIR)" M="$(CURDIR)/module" modules; \
	else \
		echo "module: not built: no kernel headers in $(KDIR): apt install linux-headers-$$(uname -r), or name them with KDIR="; \
	fi

## program: build/clearbench
program: build/clearbench

build/clearbench: $(OBJ)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(OBJ) $(PKG_LIBS) -lm -pthread

build/obj/%.o: scripts/clearbench/%.c | tools
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

-include $(OBJ:.o=.d)

## workloads: build/workloads, Graph500 and PageRank as the thread ran them
WORKLOADS_SRC := $(sort $(wildcard scripts/workloads/*.c))
WORKLOADS_OBJ := $(WORKLOADS_SRC:scripts/workloads/%.c=build/obj/workloads/%.o) \
	$(addprefix build/obj/,hypervisor.o stats.o table.o units.o usage.o util.o)
workloads: build/workloads

build/workloads: $(WORKLOADS_OBJ)
	$(CC) $(ALL_CFLAGS) -fopenmp $(LDFLAGS) -o $@ $^ -lm

build/obj/workloads/%.o: scripts/workloads/%.c | tools
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fopenmp -MMD -MP -c -o $@ $<

-include $(WORKLOADS_OBJ:.o=.d)

# One line for each thing that is missing, with the package that has it.
tools:
	@missing=; \
	command -v "$(firstword $(CC))" >/dev/null || missing="$$missing gcc"; \
	if command -v pkg-config >/dev/null; then \
		pkg-config --exists libkmod || missing="$$missing libkmod-dev"; \
		pkg-config --exists jansson || missing="$$missing libjansson-dev"; \
	else \
		missing="$$missing pkg-config libkmod-dev libjansson-dev"; \
	fi; \
	if [ -n "$$missing" ]; then \
		echo "missing: apt install$$missing" >&2; exit 1; \
	fi

## check: the tests; installs what is missing
check:
	scripts/deps all
	$(MAKE) program workloads
	tests/run

## check-long: what needs hours or other kernels as well
check-long:
	scripts/deps all
	$(MAKE) program workloads
	tests/run --long

## check-unit: the tests of the program alone
check-unit:
	$(MAKE) -C tests/unit check

## demo: fetch a kernel, boot it, run the sweep there, print the table
demo:
	scripts/deps all
	$(MAKE) program
	scripts/demo

## bench: the tool's own speed and size
bench: program
	tests/bench

## calibrate: how often the tool's verdicts are right, natively; a quarter of an hour
calibrate:
	scripts/deps all
	$(MAKE) program
	tests/calibrate/run

## lint: style and static checks; says what is not installed and goes on
CHECKPATCH ?= $(firstword $(wildcard $(KDIR)/scripts/checkpatch.pl \
	/usr/src/linux-source-*/scripts/checkpatch.pl))
LINT_C	= $(filter-out %.mod.c,$(wildcard module/*.[ch] scripts/clearbench/*.[ch] scripts/workloads/*.[ch] tests/unit/*.[ch]))
LINT_SH	= $(shell grep -lE '^.!/bin/(ba)?sh' $$(git ls-files scripts tests))
# Kinds that do not fit: strings are kept whole, this is no kernel tree but builds
# for many of them, what user space includes has no kernel macros, and a list of
# columns cannot stand in parentheses.
CHECKPATCH_IGNORE := LONG_LINE_STRING,FILE_PATH_CHANGES,COMPLEX_MACRO,MACRO_ARG_REUSE,LINUX_VERSION_CODE,CONSTANT_COMPARISON,BIT_MACRO,PREFER_DEFINED_ATTRIBUTE_MACRO,VOLATILE,IS_ENABLED_CONFIG,MACRO_ARG_PRECEDENCE
# OpenMP writes reduction(+:sum), in scripts/workloads.
# TRACE_EVENT() has a layout of its own.
# The tests are tables of text, and cmocka has its own way of naming.
CHECKPATCH_TESTS := LONG_LINE,SPLIT_STRING,CAMELCASE,STATIC_CONST_CHAR_ARRAY,EMBEDDED_FUNCTION_NAME,USE_NEGATIVE_ERRNO,AVOID_EXTERNS,SPACING
lint: tools
	@status=0; \
	if [ -n "$(CHECKPATCH)" ]; then \
		for f in $(LINT_C); do \
			ignore=$(CHECKPATCH_IGNORE); \
			case $$f in \
			tests/*) ignore=$$ignore,$(CHECKPATCH_TESTS) ;; \
			scripts/workloads/*) ignore=$$ignore,SPACING ;; \
			*/trace.h) ignore=$$ignore,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE ;; \
			esac; \
			out=$$(perl $(CHECKPATCH) --no-tree --strict --terse --quiet --show-types \
				--ignore $$ignore -f $$f) || { echo "$$out"; status=1; }; \
		done; \
	else \
		echo "lint: left out: checkpatch.pl (CHECKPATCH=, in the package linux-source)"; \
	fi; \
	: "scripts in parts share variables, which shellcheck does not follow"; \
	if command -v shellcheck >/dev/null; then \
		shellcheck -x -S warning -e SC2034,SC2154 $(LINT_SH) || status=1; \
	else \
		echo "lint: left out: shellcheck (apt install shellcheck)"; \
	fi; \
	if command -v sparse >/dev/null; then \
		sparse -std=gnu11 -D_GNU_SOURCE $(PKG_CFLAGS) $(SRC) || status=1; \
		sparse -std=gnu11 -D_GNU_SOURCE $(PKG_CFLAGS) $(WORKLOADS_SRC) || status=1; \
	else \
		echo "lint: left out: sparse (apt install sparse)"; \
	fi; \
	$(CC) $(ALL_CFLAGS) -fopenmp -Werror -fsyntax-only $(SRC) $(WORKLOADS_SRC) || status=1; \
	exit $$status

## install: program, manual, completion and collect.sh (DESTDIR, PREFIX), module source for DKMS
SHARE = $(DESTDIR)$(PREFIX)/share
install: program
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/share/clearbench"
	install -m 755 build/clearbench "$(DESTDIR)$(PREFIX)/bin/clearbench"
	install -m 755 scripts/collect.sh "$(DESTDIR)$(PREFIX)/share/clearbench/collect.sh"
	install -D -m 644 man/clearbench.1 "$(SHARE)/man/man1/clearbench.1"
	install -D -m 644 man/clearbench.4 "$(SHARE)/man/man4/clearbench.4"
	install -D -m 644 completion/clearbench.bash "$(SHARE)/bash-completion/completions/clearbench"
	install -d "$(DESTDIR)/usr/src/clearbench-$(VERSION)"
	install -m 644 module/Kbuild $(filter-out %.mod.c,$(wildcard module/*.[ch])) \
		"$(DESTDIR)/usr/src/clearbench-$(VERSION)"
	printf '%s\n' 'PACKAGE_NAME="clearbench"' 'PACKAGE_VERSION="$(VERSION)"' \
		'BUILT_MODULE_NAME[0]="clearbench"' 'DEST_MODULE_LOCATION[0]="/updates"' \
		'AUTOINSTALL="yes"' \
		'MAKE[0]="make -C $$kernel_source_dir M=$$dkms_tree/$$PACKAGE_NAME/$$PACKAGE_VERSION/build modules"' \
		'CLEAN="make -C $$kernel_source_dir M=$$dkms_tree/$$PACKAGE_NAME/$$PACKAGE_VERSION/build clean"' \
		> "$(DESTDIR)/usr/src/clearbench-$(VERSION)/dkms.conf"

## uninstall: take them away again
uninstall:
	rm -f "$(DESTDIR)$(PREFIX)/bin/clearbench" "$(SHARE)/man/man1/clearbench.1" \
		"$(SHARE)/man/man4/clearbench.4" "$(SHARE)/bash-completion/completions/clearbench"
	rm -rf "$(DESTDIR)$(PREFIX)/share/clearbench" "$(DESTDIR)/usr/src/clearbench-$(VERSION)"

## clean: what was built here
clean:
	@if [ -f "$(KDIR)/Makefile" ]; then \
		$(MAKE) -C "$(KDIR)" M="$(CURDIR)/module" clean; \
	fi
	rm -rf build

## help: this
help:
	@echo "make            module/clearbench.ko and build/clearbench"
	@sed -n 's/^## \([a-z-]*\): \(.*\)/\1|\2/p' Makefile | \
		while IFS='|' read -r target text; do \
			printf 'make %-10s %s\n' "$$target" "$$text"; \
		done
