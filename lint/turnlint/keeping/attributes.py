"""Copy permissions, ownership and extended attributes to the file that replaces another.

Where the ownership cannot be kept, the new file is never open to more users than the old one.
"""

import errno
import os
import stat

from turnlint.keeping.system import System

_ACCESS = "system.posix_acl_access"
_NOT_KEPT = frozenset(
    (errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENODATA, errno.EINVAL, errno.ENOSYS)
)
"""Errors of attributes that this user may not write, or that this file system does not support: they are skipped."""


def take_over(system: System, old: str, status: os.stat_result, new: int, temp: str) -> None:
    mode = stat.S_IMODE(status.st_mode)
    if not _owned(system, status, new):
        mode &= ~(stat.S_ISUID | stat.S_ISGID)
        mode = _group_as_others(mode) if system.stat(new).st_gid != status.st_gid else mode
    if not _extended(system, old, new):
        mode = _group_as_others(mode)
    if stat.S_IMODE(system.stat(new).st_mode) != mode:  # some file systems have one mode for all files
        system.chmod(new if os.chmod in os.supports_fd else temp, mode)


def _group_as_others(mode: int) -> int:
    return mode & ~stat.S_IRWXG | mode & (mode & stat.S_IRWXO) << 3


def _owned(system: System, status: os.stat_result, new: int) -> bool:
    """Whether the new file has the owner and the group of the old one."""
    ours = system.stat(new)
    if system.chown is None or (ours.st_uid, ours.st_gid) == (status.st_uid, status.st_gid):
        return True
    for user in (status.st_uid, -1):
        try:
            system.chown(new, user, status.st_gid)
        except PermissionError:
            continue
        return user != -1
    return False


def _extended(system: System, old: str, new: int) -> bool:
    """Copy extended attributes; return whether the access control list was kept, if there is one.

    A new file inherits attributes of its folder. It loses those that the old file did not have.
    """
    wanted, given = _names(system, old), _names(system, new)
    if system.getxattr is None or system.setxattr is None or system.removexattr is None:
        return True
    lost = set()
    for name in wanted:
        try:
            system.setxattr(new, name, system.getxattr(old, name))
        except OSError as error:
            if error.errno not in _NOT_KEPT:
                raise
            lost.add(name)
    for name in given:
        if name not in wanted:
            try:
                system.removexattr(new, name)
            except OSError as error:
                if error.errno not in _NOT_KEPT:
                    raise
    return _ACCESS not in lost


def _names(system: System, file: int | str) -> list[str]:
    try:
        return sorted(system.listxattr(file))
    except OSError as error:
        if error.errno not in _NOT_KEPT:
            raise
        return []
