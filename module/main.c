// SPDX-License-Identifier: GPL-2.0
/*
 * clearbench: how long the kernel takes to clear memory, by every way it has.
 */
#include <linux/module.h>

#include "clearbench.h"

static int __init clearbench_init(void)
{
	int ret;

	cb_clock_init();
	ret = cb_state_init();
	if (ret)
		return ret;
	ret = cb_engine_init();
	if (ret)
		goto free_state;
	cb_contexts_init();
	ret = cb_debugfs_init();
	if (ret)
		goto free_engine;
	return 0;

free_engine:
	cb_contexts_exit();
	cb_engine_exit();
free_state:
	cb_state_exit();
	return ret;
}

static void __exit clearbench_exit(void)
{
	cb_debugfs_exit();
	cb_watch_exit();
	cb_force_preempt(false);
	cb_contexts_exit();
	cb_engine_exit();
	cb_state_exit();
}

module_init(clearbench_init);
module_exit(clearbench_exit);
MODULE_DESCRIPTION("Page clearing benchmark: legacy per-page loop against clear_pages()");
MODULE_VERSION(CB_VERSION);
MODULE_LICENSE("GPL");
