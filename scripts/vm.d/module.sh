# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The module for a kernel: built from a copy of module/, and again only when the
# sources or the kernel changed.

module_sources() {
	find "$top/module" -type f ! -name '.*' ! -name '*.o' ! -name '*.ko' ! -name '*.a' \
		! -name '*.mod' ! -name '*.mod.c' ! -name 'modules.order' ! -name 'Module.symvers' \
		-printf '%P\n' | LC_ALL=C sort
}

module_exists() {
	[ -e "$top/module/Kbuild" ] || [ -e "$top/module/Makefile" ]
}

module_hash() {
	{
		printf '%s\n' "$k_id"
		module_sources | (cd "$top/module" && xargs -d '\n' sha256sum --)
	} | sha256sum | cut -d' ' -f1
}

# True when a build of the sources as they are is there
module_current() {
	module_exists && [ -e "$cache/module/$k_id/clearbench.ko" ] &&
		[ "$(cat "$cache/module/$k_id/hash" 2>/dev/null)" = "$(module_hash)" ]
}

# Build it if it is stale, and copy it to DEST (empty: print where it lies).
module_prepare() {	# DEST
	local dir=$cache/module/$k_id hash

	lock "module-$k_id"
	if ! module_current; then
		hash=$(module_hash)	# of before: an edit meanwhile makes it stale
		module_build "$dir"
		printf '%s\n' "$hash" >"$dir/hash" || die $VM_FAILED "cannot write to $dir"
	fi
	if [ -n "$1" ]; then
		cp "$dir/clearbench.ko" "$1" || die $VM_FAILED "cannot write to $1"
	else
		printf '%s\n' "$dir/clearbench.ko"
	fi
	unlock "module-$k_id"
}

module_build() {	# DIR
	local dir=$1 work log make

	need_tmp
	rm -f "$dir/hash" "$dir/clearbench.ko"
	mkdir -p "$dir" || die $VM_FAILED "cannot write to $dir"
	log=$dir/build.log
	case $k_kind in
	stock) work=$(root_dir)/build/$k_id ;;
	*) work=$dir/src ;;
	esac
	rm -rf "$work" && mkdir -p "$work" &&
		module_sources | tar -C "$top/module" --no-recursion -cf - -T - | tar -C "$work" -xf - ||
		die $VM_FAILED "cannot copy module/ to $work"

	# without pahole there is no BTF for modules, and nothing here needs it
	make=(make "-j$(nproc)" CONFIG_DEBUG_INFO_BTF_MODULES=)
	case $k_kind in
	stock)
		root_run "${make[@]}" -C "$k_build" "M=/build/$k_id" modules >"$log" 2>&1
		;;
	*)
		need_tools module "$([ "$k_kind" != tree ] || echo name-only)"
		[ "$k_arch" = x86 ] || make+=("ARCH=$k_arch")
		! grep -qs '^CONFIG_CC_IS_CLANG=y' "$k_build/.config" || make+=(LLVM=1)
		long "${make[@]}" -C "$k_build" "M=$work" modules >"$log" 2>&1
		;;
	esac || {
		sed "s|$work/||g" "$log" >&2
		die $VM_FAILED "module/ does not build for $k_name (above; log: $log)"
	}
	[ -e "$work/clearbench.ko" ] || {
		sed "s|$work/||g" "$log" >&2
		die $VM_FAILED "module/ builds no clearbench.ko"
	}
	mv "$work/clearbench.ko" "$dir/clearbench.ko" || die $VM_FAILED "cannot write to $dir"
}
