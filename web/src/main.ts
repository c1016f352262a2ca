import { mount } from "svelte";

import App from "./App.svelte";
import "./app.css";
import { storeToken } from "./api/token";
import { theme } from "./theme.svelte";

const target = document.getElementById("app");
if (!target) throw new Error("The page has no element with the id app.");

storeToken();
theme.apply();
mount(App, { target });
