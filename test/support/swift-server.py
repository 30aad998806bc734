"""OpenStack Swift with its S3 API in one process, all state below the directory given.

    python3 swift-server.py DIRECTORY MEMCACHED_PORT ACCESS_KEY SECRET_KEY ORIGINS

Prints the port of the S3 endpoint once it answers. Sockets are bound before the rings are built, so no port can be
taken by somebody else in between, and /etc/swift is never read.
"""
import os
import sys

import eventlet
import eventlet.wsgi

eventlet.patcher.monkey_patch(all=False, socket=True, select=True, thread=True, time=True)

from swift.common import utils, wsgi
from swift.common.http_protocol import SwiftHttpProtocol
from swift.common.ring import RingBuilder
from swift.common.storage_policy import reload_storage_policies

directory, memcached_port, access_key, secret_key, origins = sys.argv[1:]
kinds = ["account", "container", "object"]


def write(name, text):
    with open(os.path.join(directory, name), "w") as file:
        file.write(text)
    return os.path.join(directory, name)


def build_ring(kind, port):
    builder = RingBuilder(4, 1, 1)
    device = {"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "d1", "weight": 1}
    builder.add_dev(dict(device, replication_ip="127.0.0.1", replication_port=port))
    builder.rebalance()
    builder.get_ring().save(os.path.join(directory, kind + ".ring.gz"))


def common(port):
    return f"""[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
swift_dir = {directory}
devices = {directory}/devices
mount_check = false
workers = 0
log_level = ERROR
fallocate_reserve = 0
disable_fallocate = true
"""


def storage_conf(kind, port):
    return common(port) + f"""[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""


def proxy_conf(port):
    # slo and copy carry multipart uploads and copies; bulk carries the deletion of many objects. Parts as many as
    # Amazon takes, where Swift by itself takes 1,000.
    return common(port) + f"""[pipeline:main]
pipeline = catch_errors gatekeeper cache listing_formats s3api tempauth copy bulk slo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{memcached_port}
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
check_bucket_owner = no
cors_preflight_allow_origin = {origins}
max_upload_part_num = 10000
[filter:tempauth]
use = egg:swift#tempauth
user_{access_key.replace(":", "_")} = {secret_key} .admin
[filter:copy]
use = egg:swift#copy
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
rate_limit_after_segment = 10000
[app:proxy-server]
use = egg:swift#proxy
cors_allow_origin = {origins}
account_autocreate = true
allow_account_management = true
"""


os.makedirs(os.path.join(directory, "devices", "d1"))
write(
    "swift.conf",
    "[swift-hash]\nswift_hash_path_suffix = test\nswift_hash_path_prefix = test\n"
    "[storage-policy:0]\nname = single\ndefault = yes\n",
)
utils.set_swift_dir(directory)
utils.validate_hash_conf()
reload_storage_policies()

sockets = {kind: eventlet.listen(("127.0.0.1", 0), backlog=1024) for kind in [*kinds, "proxy"]}
ports = {kind: socket.getsockname()[1] for kind, socket in sockets.items()}
for kind in kinds:
    build_ring(kind, ports[kind])


def serve(kind, socket):
    text = proxy_conf(ports[kind]) if kind == "proxy" else storage_conf(kind, ports[kind])
    app = wsgi.loadapp(write(kind + ".conf", text), global_conf={"log_name": kind})
    # As Swift's own runner does; but that takes a process for each server.
    eventlet.spawn(
        eventlet.wsgi.server,
        socket,
        app,
        utils.NullLogger(),
        protocol=SwiftHttpProtocol,
        socket_timeout=60,
        capitalize_response_headers=False,
    )


for kind, socket in sockets.items():
    serve(kind, socket)
print(ports["proxy"], flush=True)
while True:
    eventlet.sleep(3600)
