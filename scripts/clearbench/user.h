/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user backend as the rest of the program sees it: what the module's folder
 * is, files to read and to write, without a module.
 */
#ifndef CLEARBENCH_USER_H
#define CLEARBENCH_USER_H

struct user;

struct user *user_open(void);
void user_close(struct user *u);
char *user_read(struct user *u, const char *name);
int user_write(struct user *u, const char *name, const char *text);
char *user_path(const struct user *u, const char *name);
char *user_said(struct user *u);
const char *user_knob_name(unsigned int index);

#endif /* CLEARBENCH_USER_H */
