# Uploads a file with tuspy until an offset, and prints the URL of the upload.
import sys

from tusclient.client import TusClient

endpoint, token, path, url, stop_at = sys.argv[1:]
client = TusClient(endpoint, headers={"Authorization": "Bearer " + token})
uploader = client.uploader(
    path,
    url=url or None,
    chunk_size=1024 * 1024,
    metadata={"filename": "größe.bin", "filetype": "application/zip", "take": "4"},
    retries=300,
    retry_delay=0.01,
)
uploader.upload(stop_at=int(stop_at))
print(uploader.url)
