// Dialogs and the steps of signing in, and every width in every scheme: look.slow.test.ts.
import "./look/pages.ts";
