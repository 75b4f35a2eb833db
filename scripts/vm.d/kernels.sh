# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The kernels that scripts/vm knows. One row each:
#   stock kernels: NAME stock RELEASE SERIES FLAVOUR
#   built here:    NAME built RELEASE SERIES ARCH FRAGMENT… [PATCH.patch…]
# RELEASE is the Debian release whose suites have the package. FRAGMENTs are in
# configs/, PATCHes in patches/. A kernel with patches is built on the one without
# that has the same fragments, which is a row as well.
kernel_table='
6.1             stock  bookworm  6.1   amd64
6.12            stock  trixie    6.12  amd64
7.2             stock  trixie    7.2   amd64
7.3             stock  trixie    7.3   amd64
7.3-rt          stock  trixie    7.3   rt-amd64
debug           built  trixie    7.3   x86   base debug
kasan           built  trixie    7.3   x86   base debug kasan
um              built  trixie    7.3   um    um
um-debug        built  trixie    7.3   um    um um-debug
highmem         built  trixie    7.3   i386  highmem
7.3-base        built  trixie    7.3   x86   base
7.3-loop        built  trixie    7.3   x86   base loop.patch
7.3-v1          built  trixie    7.3   x86   base v1.patch
7.3-loop-debug  built  trixie    7.3   x86   base debug loop.patch
7.3-v1-debug    built  trixie    7.3   x86   base debug v1.patch
'

kernel_names() {
	awk 'NF { print $1 }' <<<"$kernel_table"
}

built_names() {
	awk '$2 == "built" { print $1 }' <<<"$kernel_table"
}

kernel_row() {	# NAME
	awk -v name="$1" 'NF && $1 == name { print; found = 1 } END { exit !found }' <<<"$kernel_table"
}

# A kernel is described by these, set by kernel_select and kernel_prepare.
k_name=		# as the user said it
k_kind=		# stock, built or tree
k_release=	# the Debian release, for stock and built
k_series=	# 7.3
k_flavour=	# stock: amd64
k_arch=		# x86, i386 or um
k_fragments=	# built: its configuration
k_patches=	# built: what its source differs by
k_image=	# what is booted
k_build=	# where modules are built against it (stock: inside the release's root)
k_id=		# changes whenever modules must be built again

row_files() {	# WORDS: the end of a row, into fragments and patches
	local word

	k_fragments='' k_patches=''
	for word in $1; do
		case $word in
		*.patch) k_patches+=" $word" ;;
		*) k_fragments+=" $word" ;;
		esac
	done
}

kernel_select() {	# NAME|TREE
	local row rest

	k_name=$1
	if row=$(kernel_row "$1"); then
		read -r _ k_kind k_release k_series rest <<<"$row"
		case $k_kind in
		stock)
			k_flavour=$rest
			k_arch=x86
			;;
		built)
			read -r k_arch rest <<<"$rest"
			row_files "$rest"
			;;
		esac
	elif [ -d "$1" ]; then
		k_kind=tree
		tree_select "$1"
	else
		die $VM_USAGE "unknown kernel $1: one of $(kernel_names | tr '\n' ' ')or a kernel build folder"
	fi
}

# Everything that a boot and a module build need; with "refresh" the newest.
kernel_prepare() {	# [refresh]
	case $k_kind in
	stock) stock_prepare "$@" ;;
	built) built_prepare "$@" ;;
	esac
}

#
# A kernel build folder of the user's own: used as it is, nothing is installed
#
tree_select() {	# DIR
	local config missing='' option tree_needs

	k_build=$(readlink -f "$1")
	config=$k_build/.config
	[ -e "$config" ] ||
		die $VM_FAILED "$1 is no kernel build folder: it has no .config"
	if grep -qx 'CONFIG_UML=y' "$config"; then
		k_arch=um
		k_image=$k_build/linux
		tree_needs="SSL STDERR_CONSOLE NULL_CHAN"
	else
		k_arch=x86
		k_image=$k_build/arch/x86/boot/bzImage
		tree_needs="SERIAL_8250_CONSOLE"
		grep -qx 'CONFIG_X86_64=y' "$config" ||
			die $VM_FAILED "$1 is a kernel for another architecture: only x86_64 and um are booted"
	fi
	[ -e "$k_image" ] ||
		die $VM_FAILED "$1 has no ${k_image#"$k_build"/}: build it there first (make ${k_image##*/})"
	for option in $tree_needs TTY BLK_DEV_INITRD BINFMT_ELF BINFMT_SCRIPT PRINTK PROC_FS SYSFS DEVTMPFS; do
		grep -qx "CONFIG_$option=y" "$config" || missing+=" CONFIG_$option"
	done
	[ -z "$missing" ] ||
		die $VM_FAILED "the kernel in $1 cannot run a command here: it is built without$missing"
	if module_exists; then
		grep -qx 'CONFIG_MODULES=y' "$config" ||
			die $VM_FAILED "the kernel in $1 loads no modules: build it with CONFIG_MODULES"
		for option in Module.symvers scripts/mod/modpost include/generated/utsrelease.h; do
			[ -e "$k_build/$option" ] ||
				die $VM_FAILED "$1 has no $option, which building a module needs: run make modules there first"
		done
	fi
	# the folder, its configuration and what it exports
	k_id=tree-$({
		printf '%s\n' "$k_build"
		cat "$config" "$k_build"/Module.symvers "$k_build"/include/generated/utsrelease.h
	} 2>/dev/null | sha256sum | cut -c1-12)
}

# Each kernel, whether it is fetched, and whether it is built: of a stock kernel,
# the module for it.
kernel_list() {
	local name fetched built version

	printf '%-14s %-8s %-8s %s\n' kernel fetched built version
	for name in $(kernel_names); do
		kernel_select "$name"
		fetched=no built=no version=-
		case $k_kind in
		stock)
			if [ -e "$cache/stock/$name/vmlinuz" ]; then
				fetched=yes
				stock_prepare
				version=$k_id
				! module_current || built=yes
			fi
			;;
		built)
			if [ -e "$cache/source/$k_series/Makefile" ]; then
				fetched=yes
				source_prepare
				version=${source_dir##*/linux-}
				[ ! -e "$cache/built/$name-$(built_key)/.complete" ] || built=yes
			fi
			;;
		esac
		printf '%-14s %-8s %-8s %s\n' "$name" "$fetched" "$built" "$version"
	done
}

#
# Kernels built here, from Debian's kernel source
#
source_dir=

source_prepare() {	# [refresh]
	local link=$cache/source/$k_series package=linux-source-$k_series version dir

	if [ "${1:-}" != refresh ] && [ -e "$link/Makefile" ]; then
		source_dir=$(readlink -f "$link")
		return
	fi
	lock "source-$k_series"
	if [ "${1:-}" = refresh ] || [ ! -e "$link/Makefile" ]; then
		need_tools kernel
		need_tmp
		lock "apt-$k_release"
		apt_setup "$k_release"
		apt_lists "$k_release" "${1:+force}"
		version=$(apt_version "$k_release" "$package")
		[ -n "$version" ] ||
			die $VM_FAILED "Debian $k_release has no $package: set CLEARBENCH_MIRROR to a mirror that has"
		dir=$cache/source/linux-$version
		if [ ! -e "$dir/Makefile" ]; then
			say "fetching the source of Linux $version"
			source_fetch "$package" "$dir"
		fi
		unlock "apt-$k_release"
		ln -sfn "linux-$version" "$link.new" && mv -T "$link.new" "$link" ||
			die $VM_FAILED "cannot write to $cache/source"
	fi
	source_dir=$(readlink -f "$link")
	unlock "source-$k_series"
}

source_fetch() {	# PACKAGE DIR
	local new=$2.new

	if ! apt_download "$k_release" "$1" "$new.deb"; then
		apt_lists "$k_release" force
		apt_download "$k_release" "$1" "$new.deb" || apt_failed "$1"
	fi
	rm -rf "$new" && mkdir -p "$new" || die $VM_FAILED "cannot write to $new"
	long bash -o pipefail -c '
		dpkg-deb --fsys-tarfile "$1"/*.deb |
			tar -xO --wildcards "./usr/src/linux-source-*.tar.xz" |
			tar -xJ --strip-components=1 -C "$2"
		' - "$new.deb" "$new" ||
		die $VM_FAILED "cannot unpack the kernel source: is there space left in $cache?"
	rm -rf "$new.deb"
	mv -T "$new" "$2" || die $VM_FAILED "cannot write to $2"
}

built_config() {
	local fragment

	for fragment in $k_fragments; do
		cat "$vm_dir/configs/$fragment.config" ||
			die $VM_FAILED "scripts/vm.d/configs/$fragment.config is missing"
	done
}

# What identifies a build: configuration, patches, source, compiler.
built_key() {
	local patch

	{
		built_config
		for patch in $k_patches; do
			cat "$vm_dir/patches/$patch" ||
				die $VM_FAILED "scripts/vm.d/patches/$patch is missing"
		done
		basename "$source_dir"
		gcc -dumpfullversion 2>/dev/null
	} | sha256sum | cut -c1-12
}

built_prepare() {	# [refresh]
	local key dir

	source_prepare "$@"
	key=$(built_key) || exit $?
	dir=$cache/built/$k_name-$key
	if [ ! -e "$dir/.complete" ]; then
		lock "kernel-$k_name"
		[ -e "$dir/.complete" ] || built_build "$dir"
		unlock "kernel-$k_name"
	fi
	touch "$dir/.complete"
	k_build=$dir
	k_id=$k_name-$key
	case $k_arch in
	um) k_image=$dir/linux ;;
	*) k_image=$dir/arch/x86/boot/bzImage ;;
	esac
}

# Built in its place, since the folder's own Makefile names the folder: it counts
# from the moment that .complete is there, and a stopped build is begun anew.
built_build() {	# DIR
	local make log=$1.log

	need_tools kernel
	need_tmp
	make=(make -C "$source_dir" "O=$1" "ARCH=$k_arch")
	if [ -n "$k_patches" ]; then
		patched_begin "$1"
	else
		built_begin "$1"
	fi
	case $k_arch in
	um) make+=(linux modules) ;;
	*) make+=(bzImage modules) ;;
	esac
	if ! long "${make[@]}" -j"$(nproc)" >>"$log" 2>&1; then
		grep -aE 'error|Error' "$log" | tail -n 30 >&2
		die $VM_FAILED "the kernel $k_name could not be built: see $log"
	fi
	[ -z "$k_patches" ] || patched_holds "$1"
	: >"$1/.complete"
	# builds of older sources or configurations that no one used for a week
	find "$cache/built" -regextype posix-extended -mindepth 2 -maxdepth 2 -mtime +7 \
		-regex ".*/${k_name//./\\.}-[0-9a-f]{12}/\.complete" -printf '%h\n' |
		while IFS= read -r make; do
			[ "$make" = "$1" ] || rm -rf "$make" "$make.log"
		done
}

built_begin() {	# DIR
	rm -rf "$1" && mkdir -p "$1" || die $VM_FAILED "cannot write to $1"
	say "building the kernel $k_name from $(basename "$source_dir"): some minutes, once (log: $log)"
	built_config >"$1/requested.config" || exit $?
	if ! KCONFIG_ALLCONFIG=$1/requested.config long "${make[@]}" allnoconfig >"$log" 2>&1; then
		tail -n 30 "$log" >&2
		die $VM_FAILED "the kernel $k_name could not be configured"
	fi
	config_holds "$1/requested.config" "$1/.config" ||
		die $VM_FAILED "the kernel $k_name would not be what scripts/vm.d/configs asks for"
}

# A patched kernel is a copy of the unpatched build with the patched files in it.
# make looks for a source in the build folder before it looks in the source's own,
# so the source is neither copied nor touched, and little is compiled again. It
# finds .c files so and no headers: a patch here may change nothing else.
patched_begin() {	# DIR
	local plain unpatched

	patched_files "$tmp/patched"
	plain=$(unpatched_name)
	[ -n "$plain" ] || die $VM_FAILED "no row without $k_patches has the fragments$k_fragments, which $k_name is based on"
	unpatched_build "$plain"
	say "building the kernel $k_name on $plain:$k_patches (log: $log)"
	built_copy "$unpatched" "$1"
	cp -R "$tmp/patched/." "$1/" || die $VM_FAILED "cannot write to $1"
	# in the release, so that a result says which kernel it is of
	printf -- '-%s' ${k_patches//.patch/} >"$1/localversion-patches" ||
		die $VM_FAILED "cannot write to $1"
	: >"$log"
}

# A copy of a build that goes on where that one stopped
built_copy() {	# FROM TO
	rm -rf "$2" && long cp -a --reflink=auto "$1" "$2" && rm -f "$2/.complete" ||
		die $VM_FAILED "cannot copy $1 to $2: is there space left?"
	[ -d "$2/tools" ] || return 0
	# The commands that built objtool name the folder. Where they differ it is
	# built again, and then all that it has checked.
	# shellcheck disable=SC2016 # perl's own variables
	grep -rlZ --include='.*.cmd' -F "$1" "$2/tools" |
		FROM=$1 TO=$2 xargs -0r perl -pi -e 's/\Q$ENV{FROM}\E/$ENV{TO}/g'
}

# The files that the patches change, patched. All of it before anything is built.
patched_files() {	# DIR
	local patch file said

	for patch in $k_patches; do
		while IFS= read -r file; do
			[[ $file == *.c ]] ||
				die $VM_FAILED "scripts/vm.d/patches/$patch changes $file: only .c files can be patched here"
			[ ! -e "$source_dir/$file" ] || [ -e "$1/$file" ] ||
				{ mkdir -p "$1/${file%/*}" && cp -- "$source_dir/$file" "$1/$file"; } ||
				die $VM_FAILED "cannot write to $1"
		done < <(sed -nE 's|^\+\+\+ b/([^[:space:]]+).*|\1|p' "$vm_dir/patches/$patch")
		said=$(patch -d "$1" -p1 -F0 -s -f --no-backup-if-mismatch <"$vm_dir/patches/$patch" 2>&1) ||
			die $VM_FAILED "scripts/vm.d/patches/$patch does not fit $(basename "$source_dir"): $(head -n 1 <<<"$said")"
	done
}

# The row that is this one without its patches
unpatched_name() {
	local name

	for name in $(kernel_names); do
		(
			wanted="$k_arch $k_series$k_fragments"
			kernel_select "$name"
			[ "$k_kind $k_arch $k_series$k_fragments$k_patches" = "built $wanted" ]
		) && printf '%s\n' "$name" && break
	done
}

# Build that one and set $unpatched to its folder
unpatched_build() {	# NAME
	local k_name=$1 k_patches='' k_build k_id k_image log make

	built_prepare
	unpatched=$k_build
}

# That make took the patched files, and not the source's own
patched_holds() {	# DIR
	local file object

	(cd "$tmp/patched" && find . -name '*.c' -printf '%P\n') | while IFS= read -r file; do
		object=${file%.c}.o
		grep -qFx "source_$object := $file" "$1/${object%/*}/.${object##*/}.cmd" || exit 1
	done || die $VM_FAILED "the kernel $k_name was built without$k_patches: see $1.log"
}

# True when every line that was asked for stands in the final configuration; the
# last of several for one option counts. An option that depends on one that is
# off would be dropped without a word otherwise.
config_holds() {	# REQUESTED FINAL
	awk '
		function option(line) {
			if (match(line, /^# CONFIG_[A-Za-z0-9_]+ is not set/)) {
				name = substr(line, 3); sub(/ .*/, "", name); value = "n"
				return 1
			}
			if (match(line, /^CONFIG_[A-Za-z0-9_]+=/)) {
				name = substr(line, 1, RLENGTH - 1); value = substr(line, RLENGTH + 1)
				return 1
			}
			return 0
		}
		!option($0) { next }
		NR == FNR { want[name] = value; next }
		{ have[name] = value }
		END {
			for (name in want) {
				got = name in have ? have[name] : "n"
				if (got != want[name]) {
					printf "  %s: wanted %s, got %s\n", name, want[name], got
					bad = 1
				}
			}
			exit bad
		}' "$1" "$2" >&2
}
