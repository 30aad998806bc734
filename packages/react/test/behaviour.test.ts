// In one process: a browser and a site take as much to start as several of these tests.
import "./behaviour/classic.ts";
import "./behaviour/dropzones.ts";
import "./behaviour/gallery.ts";
import "./behaviour/progress.ts";
import "./behaviour/resume.ts";
import "./behaviour/sources.ts";
import "./behaviour/specialty.ts";
import "./behaviour/waiting.ts";
