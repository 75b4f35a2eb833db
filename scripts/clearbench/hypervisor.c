// SPDX-License-Identifier: GPL-2.0
/*
 * Whether this machine is a real one, as far as user space can tell.
 */
#include <stdlib.h>
#include <string.h>

#include "clearbench.h"
#include "../../module/primitives.h"

/* user_mode_linux() - is this kernel a process of another? */
bool user_mode_linux(void)
{
	char *text = read_text("/proc/cpuinfo");
	bool um = text && strstr(text, "User Mode Linux");

	free(text);
	return um;
}

/**
 * hypervisor_name() - what this machine runs under
 * @vendor: its maker by CPUID's own words, "none", "unnamed" or "unknown"
 */
void hypervisor_name(char vendor[HYPERVISOR_LEN])
{
	char buf[16];

	strcpy(vendor, prim_hypervisor(buf));
}
