# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Debian's own kernels: the image for booting, the headers for modules.

root_dir() {
	printf '%s' "$cache/apt/$k_release/root"
}

stock_prepare() {	# [refresh]
	local link=$cache/stock/$k_name

	if [ "${1:-}" = refresh ] || [ ! -e "$link/vmlinuz" ]; then
		lock "kernel-$k_name"
		if [ "${1:-}" = refresh ] || [ ! -e "$link/vmlinuz" ]; then
			stock_fetch "$link" "$@"
		fi
		unlock "kernel-$k_name"
	fi
	k_image=$(readlink -f "$link")
	k_id=${k_image##*/}
	k_image=$k_image/vmlinuz
	k_build=/usr/src/linux-headers-$k_id
}

# The newest version of the series that has both an image and headers. From 7.x
# on linux-image-* is a meta package, and linux-binary-* has the kernel alone.
stock_newest() {	# prints RELEASE PACKAGE
	local version kind images headers

	images=$(apt_names "$k_release" linux-binary-; apt_names "$k_release" linux-image-)
	headers=$(apt_names "$k_release" "linux-headers-$k_series.")
	sed -nE "s/^linux-headers-(${k_series//./\\.}\.[^-]*(-[0-9]+)?-$k_flavour)\$/\1/p" <<<"$headers" |
		sort -rV |
		while IFS= read -r version; do
			for kind in binary image; do
				if grep -Fqx "linux-$kind-$version" <<<"$images"; then
					printf '%s linux-%s-%s\n' "$version" "$kind" "$version"
					exit
				fi
			done
		done
}

stock_fetch() {	# LINK [refresh]
	local newest version package dir

	need_tmp
	lock "apt-$k_release"
	apt_setup "$k_release"
	apt_lists "$k_release" "${2:+force}"
	newest=$(stock_newest)
	[ -n "$newest" ] ||
		die $VM_FAILED "Debian $k_release has no kernel $k_series with headers: set CLEARBENCH_MIRROR to a mirror that has"
	read -r version package <<<"$newest"
	dir=$cache/stock/$version
	if [ ! -e "$dir/vmlinuz" ] || [ ! -e "$(root_dir)/usr/src/linux-headers-$version/Makefile" ]; then
		say "fetching the kernel $version"
		if ! stock_packages "$version" "$package"; then
			# what the mirror dropped since is not in newer lists
			apt_lists "$k_release" force
			newest=$(stock_newest)
			read -r version package <<<"$newest"
			dir=$cache/stock/$version
			stock_packages "$version" "$package" || apt_failed "the kernel $version"
		fi
	fi
	unlock "apt-$k_release"
	ln -sfn "$version" "$1.new" && mv -T "$1.new" "$1" ||
		die $VM_FAILED "cannot write to $cache/stock"
}

stock_packages() {	# VERSION PACKAGE
	local dir=$cache/stock/$1 new=$cache/stock/$1.new

	root_add "linux-headers-$1" || return 1
	apt_download "$k_release" "$2" "$new.deb" || return 1
	rm -rf "$new" && mkdir -p "$new" || die $VM_FAILED "cannot write to $new"
	dpkg-deb --fsys-tarfile "$new.deb"/*.deb |
		tar -xO --wildcards './boot/vmlinuz-*' './usr/lib/modules/*/vmlinuz' 2>/dev/null >"$new/vmlinuz"
	[ -s "$new/vmlinuz" ] || die $VM_FAILED "no kernel came out of $2: is there space left in $cache?"
	rm -rf "$new.deb" "$dir"
	mv -T "$new" "$dir" || die $VM_FAILED "cannot write to $dir"
}

# A folder with the release's own compiler and make, for chroot: the kernel's
# headers ask for the compiler that built the kernel, which need not be the
# host's. Packages are unpacked and no script of theirs runs, so it takes no root
# and few seconds. apt is told that what lies there is installed, each package
# once it is unpacked whole.
root_tools="base-files dash bash coreutils sed grep mawk findutils diffutils make binutils"

root_add() {	# PACKAGE…
	local root deb archives

	root=$(root_dir)
	archives=$cache/apt/$k_release/cache/archives
	lock "root-$k_release"
	# shellcheck disable=SC2086 # a list of packages
	apt_get "$k_release" install --download-only --no-install-recommends $root_tools "$@" || {
		unlock "root-$k_release"
		return 1
	}
	for deb in bin sbin lib lib64; do
		mkdir -p "$root/usr/$deb"
		[ -e "$root/$deb" ] || ln -s "usr/$deb" "$root/$deb"
	done
	for deb in "$archives"/*.deb; do
		[ -e "$deb" ] || continue
		root_unpack "$deb" "$root" ||
			die $VM_FAILED "cannot unpack ${deb##*/}: is there space left in $cache?"
		rm -f "$deb"
	done
	[ -e "$root/usr/bin/awk" ] || ln -s mawk "$root/usr/bin/awk"
	[ -e "$root/usr/bin/sh" ] || ln -s dash "$root/usr/bin/sh"
	mkdir -p "$root"/{dev,proc,tmp,build}
	unlock "root-$k_release"
}

root_unpack() {	# DEB ROOT
	local status=$2/var/lib/dpkg/status name

	long bash -o pipefail -c 'dpkg-deb --fsys-tarfile "$1" |
		tar -x -C "$2" --keep-directory-symlink --no-same-owner' - "$1" "$2" || return 1
	name=$(dpkg-deb -f "$1" Package)
	{
		# the file without an older version of it
		awk -v name="$name" -v RS= -v ORS='\n\n' '$1 == "Package:" && $2 == name { next } { print }' "$status" &&
			printf 'Status: install ok installed\n' &&
			dpkg-deb -f "$1" &&
			echo
	} >"$status.new" && mv "$status.new" "$status"
}

# Run a command in the root. Several may at once, while nothing is unpacked. The
# host's /dev and /proc (objtool reads it) are there for as long as it runs: the
# mounts lie in a namespace of their own, which needs no root either. Where "/" is
# no mount point, as in a chroot, what is made private is the root alone.
root_run() {	# COMMAND…
	local root status how=(unshare --mount)

	root=$(root_dir)
	[ "$(id -u)" = 0 ] || how+=(--user --map-root-user)
	"${how[@]}" true 2>/dev/null || how+=(--propagation unchanged)
	"${how[@]}" true || {
		echo "this machine refuses a mount namespace, in which modules for $k_name are built: use a kernel build folder (scripts/vm exec TREE ...)"
		return 1
	}
	lock "root-$k_release" -s
	# shellcheck disable=SC2016 # for the inner shell
	long "${how[@]}" sh -c '
		mount --bind "$1" "$1" && mount --make-private "$1" || exit
		for dir in dev proc; do
			mount --rbind "/$dir" "$1/$dir" || exit
		done
		root=$1
		shift
		exec chroot "$root" env -i PATH=/usr/bin:/usr/sbin LC_ALL=C "$@"
		' - "$root" "$@"
	status=$?
	unlock "root-$k_release"
	return "$status"
}
