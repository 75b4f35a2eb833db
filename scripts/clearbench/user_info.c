// SPDX-License-Identifier: GPL-2.0
/*
 * User backend: what a figure depends on, under the names of the module's
 * `info`.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user_engine.h"

static const char *hypervisor_mark(const char *vendor)
{
	if (!strcmp(vendor, "TCG"))
		return " emulated";
	return strcmp(vendor, "none") && strcmp(vendor, "unknown") ? " guest" : "";
}

/* What user space alone can see of the marks, a blank before each; to be freed */
char *machine_marks(void)
{
	char vendor[HYPERVISOR_LEN];

	hypervisor_name(vendor);
	return xasprintf("%s%s", hypervisor_mark(vendor), user_mode_linux() ? " um" : "");
}

/* What the compiler was told to put around every access */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DISTORTS	"sanitizers"
#else
#define DISTORTS	"none"
#endif

/* user_info() - the environment, a `key: value` a line; to be freed */
char *user_info(void)
{
	char vendor[HYPERVISOR_LEN], model[49];
	char *text, *clock = user_clock_name(), *huge = user_huge_pages();
	bool um = user_mode_linux();
	size_t len;
	FILE *to = open_memstream(&text, &len);

	hypervisor_name(vendor);
	prim_cpu_model(model);
	fprintf(to, "clearbench: %s\nformat: 1\nbackend: user\n", CB_VERSION);
	fprintf(to, "page_size: %ld\nmax_order: %u\n", sysconf(_SC_PAGESIZE), user_max_order());
	fprintf(to, "huge_pages: %s\n", huge);
	fprintf(to, "clear_pages: not called, user space\nclear_page: %s\n", user_clear_page);
	fprintf(to, "clock: %s\nclock_ns_process: %.1f\nclock_read_ns: %.1f\n", clock,
		user_clock_ns_empty, user_clock_ns_read);
	fprintf(to, "distorts: %s\n", DISTORTS);
	fprintf(to, "hypervisor: %s%s\n", um ? "um on " : "", vendor);
	fprintf(to, "marks: user%s%s", hypervisor_mark(vendor), um ? " um" : "");
	fputs(strcmp(DISTORTS, "none") ? " distorted\n" : "\n", to);
	fprintf(to, "llc_bytes: %llu\ncold_by: %s\n", user_llc_bytes, user_state_how());
	if (*model)
		fprintf(to, "cpu_model: %s\n", model + strspn(model, " "));
	fclose(to);
	free(huge);
	free(clock);
	return text;
}
