// SPDX-License-Identifier: GPL-2.0
/* make-result CELLS [BUCKETS]: a result file of that size on standard output */
#include <stdlib.h>

#include "fixture.h"

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: make-result CELLS [BUCKETS]\n", stderr);
		return CB_USAGE;
	}
	fixture_write(stdout, atoi(argv[1]), argc > 2 ? atoi(argv[2]) : 60);
	return 0;
}
