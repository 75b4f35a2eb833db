# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Packages of a Debian release that need not be the host's, by a private apt
# root in the cache: apt checks every signature, and the host's own lists,
# sources and installed packages are neither used nor touched.

apt_keep_lists=1	# days until a fetch asks the mirror for newer lists

# The mirror that the host's own apt takes Debian from.
host_mirror() {
	local codename

	if [ -n "${CLEARBENCH_MIRROR:-}" ]; then
		printf '%s\n' "${CLEARBENCH_MIRROR%/}/"
		return
	fi
	codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
	# Other vendors' repositories may carry the release's name too: what the
	# lists say comes first, and the usual name of the archive second.
	apt-get indextargets --format '$(RELEASE)|$(COMPONENT)|$(ORIGIN)|$(REPO_URI)' |
		awk -F'|' -v code="$codename" '
			$1 != code || $2 != "main" { next }
			$3 == "Debian" { print $4; found = 1; exit }
			$4 ~ /\/debian\/?$/ && !named { named = $4 }
			END { if (!found && named) print named }'
}

# Where the updates for security are: as the host has it, else beside the mirror.
host_security() {	# MIRROR
	local uri

	if [ -z "${CLEARBENCH_MIRROR:-}" ]; then
		uri=$(apt-get indextargets --format '$(RELEASE)|$(COMPONENT)|$(REPO_URI)' |
			awk -F'|' '$1 ~ /-security$/ && $2 == "main" && $3 ~ /debian-security\/?$/ { print $3; exit }')
	fi
	printf '%s\n' "${uri:-${1%/}-security/}"
}

apt_keyring() {
	local file

	for file in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp}; do
		[ ! -e "$file" ] || { printf '%s\n' "$file"; return 0; }
	done
	return 1
}

# Prepare the private apt root of a release: its folder holds the configuration
# and the lists, and root/ the packages unpacked for building modules. apt takes
# these for installed, so a second kernel of the release fetches only what is new.
# Another architecture than amd64 has a root of its own, RELEASE-ARCH, and takes
# from the release alone: only kernels need its newer suites.
apt_setup() {	# RELEASE [ARCH]
	local dir=$cache/apt/$1${2:+-$2} arch=${2:-amd64} mirror security keyring

	on_debian || die $VM_FAILED "kernels are fetched by apt-get and dpkg-deb, which this machine lacks: use a kernel build folder (scripts/vm exec TREE …)"
	keyring=$(apt_keyring) ||
		die $VM_FAILED "the Debian archive keyring is missing: apt-get install debian-archive-keyring"
	mirror=$(host_mirror)
	[ -n "$mirror" ] ||
		die $VM_FAILED "no Debian mirror in this machine's apt configuration: set CLEARBENCH_MIRROR to one"
	security=$(host_security "$mirror")

	mkdir -p "$dir"/{lists/partial,cache/archives/partial} "$dir/root/var/lib/dpkg/updates" ||
		die $VM_FAILED "cannot write to $dir"
	[ -e "$dir/root/var/lib/dpkg/status" ] || : >"$dir/root/var/lib/dpkg/status"
	cat >"$dir/sources.list.new" <<-END
		deb [signed-by=$keyring] $mirror $1 main
	END
	[ -n "${2:-}" ] || cat >>"$dir/sources.list.new" <<-END
		deb [signed-by=$keyring] $mirror $1-backports main
		deb [signed-by=$keyring] $security $1-security main
	END
	# another mirror: the lists are to be asked for anew
	cmp -s "$dir/sources.list.new" "$dir/sources.list" || rm -f "$dir/updated"
	mv "$dir/sources.list.new" "$dir/sources.list"
	cat >"$dir/apt.conf" <<-END
		Dir::Etc::sourcelist "$dir/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		Dir::State "$dir";
		Dir::State::lists "$dir/lists";
		Dir::State::status "$dir/root/var/lib/dpkg/status";
		Dir::State::extended_states "$dir/extended_states";
		Dir::Cache "$dir/cache";
		Dir::Cache::pkgcache "pkgcache.bin";
		Dir::Cache::srcpkgcache "srcpkgcache.bin";
		Dir::Log "$dir";
		#clear APT::Architectures;
		APT::Architecture "$arch";
		APT::Architectures { "$arch"; };
		APT::Default-Release "";
		APT::Install-Recommends "0";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "3";
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear DPkg::Pre-Invoke;
		#clear DPkg::Post-Invoke;
		#clear DPkg::Pre-Install-Pkgs;
	END
}

apt_get() {	# RELEASE ARGUMENT…; its output goes to a log that a failure shows
	local release=$1

	shift
	need_tmp
	long apt-get -q -y -c "$cache/apt/$release/apt.conf" "$@" >"$tmp/apt.log" 2>&1
}

# The lists, unless they are fresh enough. With "force" in any case.
apt_lists() {	# RELEASE [force]
	local dir=$cache/apt/$1

	[ "${2:-}" = force ] || [ -z "$(find "$dir/updated" -mtime -$apt_keep_lists 2>/dev/null)" ] || return 0
	say "reading the package lists of Debian $1"
	if ! apt_get "$1" update || grep -q '^[EW]: .*[Ff]ailed to fetch' "$tmp/apt.log"; then
		sed -n 's/^[EW]: /  /p' "$tmp/apt.log" >&2
		die $VM_FAILED "cannot read the package lists of Debian $1: check the network, or set CLEARBENCH_MIRROR to another mirror"
	fi
	: >"$dir/updated"
}

apt_names() {	# RELEASE PREFIX
	apt-cache -c "$cache/apt/$1/apt.conf" pkgnames "$2"
}

apt_version() {	# RELEASE PACKAGE
	apt-cache -c "$cache/apt/$1/apt.conf" show --no-all-versions "$2" | sed -n 's/^Version: //p'
}

# Download one package into a folder. A mirror drops what newer lists no longer
# name, so a miss is tried again behind fresh lists by the caller.
apt_download() {	# RELEASE PACKAGE DIR
	rm -rf "$3" && mkdir -p "$3" || die $VM_FAILED "cannot write to $3"
	long env -C "$3" apt-get -q -c "$cache/apt/$1/apt.conf" download "$2" >"$tmp/apt.log" 2>&1
}

apt_failed() {	# WHAT
	sed -n 's/^[EW]: /  /p' "$tmp/apt.log" >&2
	die $VM_FAILED "cannot fetch $1: check the network and the free space in $cache, or set CLEARBENCH_MIRROR to another mirror"
}
