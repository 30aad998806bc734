import { supportedMimeTypes } from "file-type";
import { isAllowedType, mediaType } from "../uploads/media-type.ts";

/** Why bytes and declaration do not go together; null if they do. */
export type TypeProblem = "not-allowed" | "contradicted" | "unknown";

/** Names of one format, or of formats whose signatures do not tell them apart. */
const groups = [
  "image/jpeg image/jpg image/pjpeg",
  "image/png image/x-png image/apng image/vnd.mozilla.apng",
  "image/bmp image/x-bmp image/x-ms-bmp",
  "image/vnd.microsoft.icon image/x-icon image/ico",
  "image/tiff image/tif image/x-tiff image/geotiff image/x-nikon-nef image/x-sony-arw image/x-adobe-dng image/x-canon-cr2",
  "image/vnd.adobe.photoshop image/x-photoshop image/psd application/x-photoshop application/photoshop",
  "image/heic image/heif image/heic-sequence image/heif-sequence",
  "image/avif image/avif-sequence",
  "image/jp2 image/jpx image/jpm image/x-jp2",
  "image/svg+xml image/svg",
  "audio/mpeg audio/mp3 audio/x-mp3 audio/mpeg3 audio/x-mpeg audio/mpg",
  "audio/wav audio/x-wav audio/wave audio/vnd.wave",
  "audio/flac audio/x-flac",
  "audio/aiff audio/x-aiff",
  "audio/aac audio/x-aac audio/aacp",
  "audio/midi audio/x-midi audio/mid",
  "audio/ogg video/ogg application/ogg audio/opus audio/vorbis audio/x-vorbis+ogg audio/x-opus+ogg",
  "video/mp4 audio/mp4 application/mp4 audio/x-m4a audio/m4a audio/x-m4b video/x-m4v video/quicktime video/3gpp audio/3gpp video/3gpp2 audio/3gpp2",
  "video/webm audio/webm video/x-matroska audio/x-matroska video/matroska audio/matroska",
  "video/x-msvideo video/vnd.avi video/avi video/msvideo",
  "video/x-ms-asf audio/x-ms-asf application/vnd.ms-asf video/x-ms-wmv audio/x-ms-wma",
  "video/mpeg video/x-mpeg video/mp1s video/mp2p",
  "video/x-flv video/flv",
  "application/pdf application/x-pdf application/illustrator application/vnd.adobe.illustrator",
  "application/zip application/x-zip-compressed application/x-zip multipart/x-zip",
  "application/gzip application/x-gzip application/x-tgz application/x-compressed-tar",
  "application/x-tar application/tar",
  "application/x-bzip2 application/x-bzip application/bzip2",
  "application/x-7z-compressed application/7z",
  "application/vnd.rar application/x-rar-compressed application/x-rar",
  "application/x-xz application/xz",
  "application/zstd application/x-zstd",
  "application/rtf text/rtf application/x-rtf text/richtext",
  "application/postscript application/eps image/x-eps application/illustrator",
  "application/x-msdownload application/vnd.microsoft.portable-executable application/x-dosexec application/x-msdos-program application/exe",
  "application/x-elf application/x-executable application/x-sharedlib application/x-pie-executable",
  "application/x-mach-binary application/x-mach-o",
  "application/java-vm application/java application/x-java",
  "application/java-archive application/x-java-archive application/jar",
  "application/x-sqlite3 application/vnd.sqlite3",
  "application/xml text/xml",
  "application/x-httpd-php application/x-php text/x-php text/php",
  "font/ttf application/x-font-ttf application/x-font-truetype font/sfnt application/font-sfnt",
  "font/otf application/x-font-otf application/vnd.ms-opentype font/sfnt application/font-sfnt",
  "font/woff application/font-woff application/x-font-woff",
  "font/woff2 application/font-woff2",
  "text/vcard text/x-vcard text/directory",
  "text/calendar application/ics",
  "model/stl application/sla application/vnd.ms-pki.stl",
  "application/x-deb application/vnd.debian.binary-package application/x-debian-package",
  "application/vnd.ms-cab-compressed application/x-cab",
  "application/x-shockwave-flash application/vnd.adobe.flash.movie",
  "application/x-apple-diskimage application/x-iso9660-image",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation application/vnd.openxmlformats-officedocument.presentationml.slideshow application/vnd.openxmlformats-officedocument.presentationml.template",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document application/vnd.openxmlformats-officedocument.wordprocessingml.template",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet application/vnd.openxmlformats-officedocument.spreadsheetml.template",
  "application/vnd.ms-word.document.macroenabled.12 application/vnd.ms-word.template.macroenabled.12",
  "application/vnd.ms-excel.sheet.macroenabled.12 application/vnd.ms-excel.template.macroenabled.12",
  "application/vnd.ms-powerpoint.presentation.macroenabled.12 application/vnd.ms-powerpoint.slideshow.macroenabled.12",
].map((names) => names.split(" "));

/** Formats by whose name others can be called too: a web page is a text, and a spreadsheet a ZIP. */
const generic: Record<string, RegExp> = {
  "application/octet-stream": /./,
  "text/plain": /^text\/|xml$|php$|^application\/(rtf|postscript|pgp-encrypted)$/,
  "application/xml": /xml$/,
  "text/xml": /xml$/,
  "image/heif": /^image\/(heic|avif)/,
  "application/zip":
    /officedocument|opendocument|macroenabled|zip$|^application\/(java-archive|vnd\.android|vnd\.apple|vnd\.google-earth|x-ios-app)|^model\/3mf$/,
};

/** Formats that only their declaration tells apart: they have the signature of the format they are built on. */
const kinds: Record<string, RegExp> = {
  "text/html": /^text\/(x-)?markdown$/,
  "application/xml": /^text\/|^(?!image\/svg).*\+xml$/,
  "application/zip": /^(?!application\/epub).*\+zip$|^application\/(x-cbz|x-xpinstall)$/,
  "application/x-cfb":
    /^application\/(msword|vnd\.ms-(excel|powerpoint|outlook|works)|vnd\.visio|x-msi|x-ole-storage)$/,
  "image/heif": /^image\/avif$/,
};

/** Names under which these bytes may go. */
function namesOf(detected: string, declared: string): string[] {
  const names = groups.find((group) => group.includes(detected)) ?? [detected];
  return kinds[detected]?.test(declared) ? [...names, declared] : names;
}

export function isNameOf(declared: string, detected: string): boolean {
  return namesOf(detected, mediaType(declared)).includes(mediaType(declared));
}

export function judgeType(
  contentType: string,
  detected: string | null,
  allowedTypes: readonly string[],
): TypeProblem | null {
  const declared = mediaType(contentType);
  if (detected === null) return hasSignature(declared) ? "unknown" : null;
  const names = namesOf(detected, declared);
  const isGeneric = generic[declared]?.test(detected) ?? false;
  if (!names.includes(declared) && !isGeneric) return "contradicted";
  // Not by every name: PostScript has one among images, and image/* must not let it in.
  const family = detected.slice(0, detected.indexOf("/") + 1);
  const isAllowed = (name: string) =>
    (name === declared || name.startsWith(family)) && isAllowedType(allowedTypes, name);
  return names.some(isAllowed) ? null : "not-allowed";
}

const ofOffice =
  /officedocument|opendocument|macroenabled|^application\/(msword|vnd\.ms-(excel|powerpoint|outlook))/;

/** Such files begin with bytes that show their format; others, such as text, JSON and CSV, with anything. */
function hasSignature(declared: string): boolean {
  if (/^text\/|^application\/(xml|ics|pgp-encrypted)$/.test(declared)) return false;
  if (/^(image|audio|video|font)\//.test(declared) || ofOffice.test(declared)) return true;
  return supportedMimeTypes.has(declared as never) || groups.some((group) => group.includes(declared));
}
