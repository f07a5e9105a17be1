"""Settings of the site: `make docs` builds it into build/docs, without the network."""

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent / "src")]

import maxmargin  # noqa: E402

project = "maxmargin"
author = "the maxmargin developers"
release = version = maxmargin.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxext.opengraph",
    "mathml",
    "outside_pages",
    "public_names",
]
exclude_patterns = ["_*", "**/GALLERY_HEADER.rst", "**/README.md"]
templates_path = ["_templates"]
# A single backtick in a docstring is code, as in Markdown.
default_role = "code"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections have the types
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/learn", "../examples/do"],
    "gallery_dirs": ["learn/steps", "do/recipes"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    # Each example links the names it uses, and each name's page shows the examples that use it.
    "doc_module": ("maxmargin",),
    "reference_url": {"maxmargin": None},
    "backreferences_dir": "reference/uses",
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "plot_gallery": "True",
    "reset_modules": ("matplotlib", "figures.begin"),
    "download_all_examples": False,
    "nested_sections": False,
    "write_computation_times": False,
}
warnings.filterwarnings("error", module="maxmargin")
os.environ["NO_COLOR"] = "1"  # what an example prints has no colours

html_theme = "pydata_sphinx_theme"
html_title = "maxmargin"
html_favicon = html_logo = "../src/maxmargin/playground/static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "maxmargin"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "gallery": []}
html_context = {"default_mode": "auto"}
project_copyright = "the maxmargin developers, BSD-3-Clause"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

ogp_site_url = os.environ.get("SITE_URL", "")
ogp_social_cards = {"enable": False}
ogp_description_length = 200
