// What is asked of a page: each function is called by `call` of scripts.py.
({

    unstyled: roots => {
        const rules = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]);
        const begins = root => {
            const first = new RegExp(`^\\.${root}(?![\\w-])`);
            return rules.filter(rule => first.test(rule.selectorText ?? "") && rule.style.length);
        };
        return roots.filter(root => document.querySelector(`.${root}`) && !begins(root).length);
    },

    // Hidden on purpose is what an attribute, an inline style, a tab or a closed fold hides; a style
    // sheet that takes a button away does so for good.
    missing: () => {
        const folded = element => element.parentElement?.matches("details:not([open])")
            && element.tagName !== "SUMMARY";
        const hides = element => element.hidden || folded(element)
            || element.matches(".lm-mod-hidden, [style*='display: none'], [style*='visibility: hid']");
        const meant = element => {
            for (let at = element; at && !at.matches(".jp-OutputArea"); at = at.parentElement)
                if (hides(at)) return true;
            return false;
        };
        const clear = { visibilityProperty: true, opacityProperty: true };
        const seen = button => button.checkVisibility(clear)
            && button.getBoundingClientRect().width > 1 && button.getBoundingClientRect().height > 1;
        return [...document.querySelectorAll(".jp-OutputArea-output :is(button, [role='button'])")]
            .filter(button => !meant(button) && !seen(button))
            .map(button => `${button.getAttribute("aria-label") || button.textContent} `
                + `(${button.className})`);
    },

    settle: () => Promise.allSettled(document.getAnimations().filter((one) =>
        one.effect.getComputedTiming().endTime !== Infinity).map((one) => one.finished)),

    violations: async ([parts, rules]) => {
        const include = [...document.querySelectorAll(parts)];
        const options = { resultTypes: ["violations"], elementRef: true, preload: false };
        if (rules.length) options.runOnly = rules;
        const { violations } = await axe.run({ include }, options);
        return violations.flatMap(({ id, help, nodes }) => nodes.map(({ element, html }) => [
            include.findIndex((one) => one.contains(element)), `${id}: ${help}: ${html.slice(0, 200)}`,
        ]));
    },

    faint: (root, apart) => {
        const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
        const laid = (colours) => {  // one over the other, in any notation of CSS
            for (const colour of colours) {
                pen.fillStyle = colour;
                pen.fillRect(0, 0, 1, 1);
            }
            return [...pen.getImageData(0, 0, 1, 1).data];
        };
        const part = (n) => n <= 0.03928 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4;
        const light = ([r, g, b]) =>
            0.2126 * part(r / 255) + 0.7152 * part(g / 255) + 0.0722 * part(b / 255);
        const behind = (one) => one
            ? [...behind(one.parentElement), getComputedStyle(one).backgroundColor]
            : ["#fff"];
        const all = [...root.querySelectorAll("*")].filter((one) =>
            one.checkVisibility() && !one.matches(`:disabled, [aria-disabled=true], ${apart}`)
            && [...one.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()));
        return all.filter((one) => {
            const below = behind(one);
            const b = light(laid(below));
            const a = light(laid([...below, getComputedStyle(one).color]));
            return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
        }).map((one) => `${one.className}: ${one.textContent.slice(0, 40)}`);
    },

    // Compares every element of every state, with only the sheets that it brought and with those of
    // all others before and after them. What it returns are the differences, some of each state.
    compare: ([cells, own, orders]) => {
        const inside = (out) => [...out.querySelectorAll("style")].filter((one) => !one.closest("svg"));
        const heads = [...document.head.querySelectorAll("style[id^='chatkit.']")];
        const outs = cells.map((n) =>
            document.querySelectorAll(".jp-Notebook .jp-CodeCell")[n].querySelector(".jp-OutputArea"));
        const mine = outs.map((out, n) => [
            ...new Set([...heads.filter((one) => own[n].includes(one.id)), ...inside(out)]
                .map((one) => one.textContent))]);
        const texts = [...new Set([...heads, ...outs.flatMap(inside)].map((one) => one.textContent))];
        const sizes = ["width", "height", "top", "right", "bottom", "left"]; // follow from the rest
        const properties = new Set();
        const collect = (rules) => {
            for (const rule of rules) {
                for (const name of rule.style ?? [])
                    if (!name.startsWith("--") && !sizes.includes(name)) properties.add(name);
                if (rule.cssRules) collect(rule.cssRules);
            }
        };
        for (const one of [...heads, ...outs.flatMap(inside)]) collect(one.sheet.cssRules);
        const names = [...properties];
        // in place of their own sheets come copies, of these texts in this order
        for (const one of [...heads, ...outs.flatMap(inside)]) one.media = "not all";
        const copies = [];
        const apply = (order) => {
            for (const one of copies.splice(0)) one.remove();
            for (const text of order) {
                const copy = document.createElement("style");
                copy.textContent = text;
                document.head.append(copy);
                copies.push(copy);
            }
        };
        const values = (element, part) => {
            const style = getComputedStyle(element, part);
            if (part && style.content === "none") return "";
            return names.map((name) => style.getPropertyValue(name)).join("|");
        };
        // of many elements alike, like the rows of a table, three are enough
        const some = outs.map((out) => {
            const seen = new Map();
            const path = (at) =>
                at === out ? "" : `${at.getAttribute("class")}>${path(at.parentElement)}`;
            return [...out.querySelectorAll("*:not(style)")].filter((element) => {
                const key = element.localName + path(element);
                seen.set(key, (seen.get(key) ?? 0) + 1);
                return seen.get(key) <= 3;
            });
        });
        const looks = (n) => some[n].flatMap((element) =>
            [null, "::before", "::after"].map((part) => [element, part, values(element, part)]));
        const alone = [];
        for (const wanted of new Set(mine.map(String))) {
            apply(mine.find((texts) => String(texts) === wanted));
            mine.forEach((texts, n) => { if (String(texts) === wanted) alone[n] = looks(n); });
        }
        const found = [];
        for (const order of orders) {
            apply([...new Set(order.map((n) => texts[n % texts.length]))]);
            outs.forEach((_, n) => looks(n).forEach(([element, part, now], k) => {
                const before = alone[n][k][2];
                if (now === before || found.filter((one) => one[0] === n).length > 4) return;
                const [a, b] = [before.split("|"), now.split("|")];
                const differs = names.map((name, i) => a[i] !== b[i] && `${name}: ${a[i]} is ${b[i]}`);
                const problems = differs.filter(Boolean).slice(0, 5);
                found.push([n, `${element.localName}.${element.className}${part ?? ""}: ${problems}`]);
            }));
        }
        apply([]);
        for (const one of [...heads, ...outs.flatMap(inside)]) one.media = "";
        return found;
    },

    // What reacts to a click is reached by the keyboard: it is a control, in one, or around one; of a
    // grid or a tree one element has the focus, and arrows move it.
    unreached: (outs) => [...document.querySelectorAll(outs)].flatMap((out, n) => {
        const control = ":is(a[href], button, input, select, textarea, summary, label, [tabindex])";
        const found = [...out.querySelectorAll("*")].filter((one) => one.checkVisibility());
        const points = (one) => one.onclick || getComputedStyle(one).cursor === "pointer";
        const clicked = found.filter(points);
        const lost = clicked.filter((one) => !one.closest(control) && !one.querySelector(control));
        const wide = [...out.querySelectorAll("[role=grid], [role=tree]")].filter((one) =>
            one.querySelectorAll("[role=gridcell], [role=treeitem]").length
            && one.querySelectorAll("[tabindex='0']").length !== 1);
        const ahead = found.filter((one) => one.tabIndex > 0);
        return [...lost, ...wide, ...ahead].map((one) => [n, one.outerHTML.slice(0, 160)]);
    }),

    // The ids that two elements have, and references to ids that nothing has.
    ids: () => {
        const all = (css) => [...document.querySelectorAll(`.jp-OutputArea-output ${css}`)];
        const ids = all("[id]").map((one) => one.id);
        const named = ["aria-describedby", "aria-labelledby", "for"].flatMap((name) =>
            all(`[${name}]`).flatMap((one) => one.getAttribute(name).split(" ")));
        return [ids.filter((id, n) => ids.indexOf(id) !== n),
                named.filter((id) => id && !document.getElementById(id))];
    },

    // Puts the focus on the first control of an output, which alone is visible, and records which
    // controls get it from then on.
    trackFocus: (out) => {
        const notebook = out.closest(".jp-Notebook"), cell = out.closest(".jp-Cell");
        notebook.classList.add("one-cell");
        notebook.querySelector(".tested")?.classList.remove("tested");
        cell.classList.add("tested");
        const controls = "a[href], button, input, select, textarea, summary, [tabindex]";
        const open = (one) => one.checkVisibility({ visibilityProperty: true }) && one.tabIndex >= 0
            && !one.disabled && !(one.type === "radio" && !one.checked && one.name);
        const left = new Set([...out.querySelectorAll(controls)].filter(open)), all = [...left];
        const bare = [];
        const note = ({ target }) => {
            left.delete(target);
            const { outlineStyle, boxShadow } = getComputedStyle(target);
            if (outlineStyle !== "none" || boxShadow !== "none") return;
            if (!target.matches(":focus-visible")) return; // the mouse was used last
            for (let at = target; at !== out; at = at.parentElement) // or around it
                if (getComputedStyle(at).boxShadow.includes("inset")) return;
            bare.push(target);
        };
        out.addEventListener("focusin", note);
        all[0]?.focus();
        left.delete(document.activeElement); // no event tells of it where the window is not in front
        window.focused = () => {
            out.removeEventListener("focusin", note);
            const problems = [...left].filter(open).map((one) => `not reached: ${one.outerHTML}`);
            problems.push(...bare.map((one) => `no ring: ${one.outerHTML}`));
            if (out.contains(document.activeElement))
                problems.push(`not left: ${document.activeElement.outerHTML}`);
            return problems.map((one) => one.slice(0, 160));
        };
        window.focused.within = () => out.contains(document.activeElement);
        window.focused.end = () =>
            [notebook, cell].map((one) => one.classList.remove("one-cell", "tested"));
        return all.length;
    },

    // Sends keys to every kind of control in every state, and returns those that went further than
    // they may, or not as far as they must.
    keys: (outs) => {
        const ours = ".fp-player, [class*=-grid], .tl-tail, .bd-board,"
            + " [class*=chatkit-]:not(.chatkit-frame)";
        const lab = [], found = [];
        const hear = (event) => { lab.push(event); event.stopPropagation(); };
        document.documentElement.addEventListener("keydown", hear);
        const goesOn = (one, keys) => {
            const event = new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...keys });
            lab.length = 0;
            one.dispatchEvent(event);
            return lab.length > 0;
        };
        const own = {
            save: { key: "s", ctrlKey: true }, "save on a Mac": { key: "s", metaKey: true },
            palette: { key: "C", ctrlKey: true, shiftKey: true }, sidebar: { key: "b", ctrlKey: true },
        };
        document.querySelectorAll(outs).forEach((out, n) => {
            const kinds = new Set();
            for (const one of out.querySelectorAll("input, select, textarea, button, [tabindex]")) {
                if (!one.isConnected) continue; // a key before has drawn it anew
                const kind = `${one.localName} ${one.type} ${one.role} ${one.parentElement.className}`;
                if (kinds.has(kind) || !one.checkVisibility() || !one.closest(ours)) continue;
                kinds.add(kind);
                const problems = one.outerHTML.slice(0, 100);
                for (const [name, keys] of Object.entries(own))
                    if (!goesOn(one, keys)) found.push([n, `${name} does not go on: ${problems}`]);
                if (goesOn(one, { key: "x" })) found.push([n, `a letter goes on: ${problems}`]);
                if (one.matches("input, textarea") && goesOn(one, { key: "z", ctrlKey: true }))
                    found.push([n, `undo goes on: ${problems}`]);
                one.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
            }
        });
        document.documentElement.removeEventListener("keydown", hear);
        return found;
    },

    // The words of tables that are broken in their middle.
    brokenWords: (outs) => [...document.querySelectorAll(outs)].flatMap((out, n) => {
        const found = [], nodes = document.createTreeWalker(out, NodeFilter.SHOW_TEXT);
        while (nodes.nextNode()) {
            const text = nodes.currentNode, around = text.parentElement, range = document.createRange();
            if (!around.closest("td, th") || !around.checkVisibility()) continue;
            for (const { 0: word, index } of text.data.matchAll(/[\p{L}\p{N}]+/gu)) {
                range.setStart(text, index);
                range.setEnd(text, index + word.length);
                if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1)
                    found.push([n, word]);
            }
        }
        return found;
    }),

    // What there is to know of one input, or nothing after the last.
    describeInput: (body, [inputs, number]) => {
        const one = body.querySelectorAll(inputs)[number];
        const group = one?.closest("fieldset") ?? one?.parentElement;
        return one && {
            open: one.checkVisibility() && !one.disabled, kind: one.type, value: one.value,
            max: one.max, min: one.min, keys: one.inputMode, label: one.labels[0]?.textContent,
            first: [...group.querySelectorAll("input:enabled")].indexOf(one) === 0,
        };
    },

    show: async ([script, state]) => {
        const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
        const heard = {}, sent = [];
        const model = {
            get: (name) => state[name] ?? null,
            set: (values) => Object.assign(state, values),
            save_changes: () => {},
            send: (message) => sent.push(message),
            on: (name, act) => { heard[name] = act; },
            off: () => {},
        };
        window.player = { state, sent, change: (values) => {
            Object.assign(state, values);
            heard[`change:${Object.keys(values)[0]}`]();
        }, hear: (message) => heard["msg:custom"](message) };
        await (await import(url)).default.render({ model, el: document.body });
    },
})
