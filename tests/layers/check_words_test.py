"""check_words finds what is planted."""

import unittest

import check_words


class Words(unittest.TestCase):
    def test_a_registry_is_found(self):
        host = "files." + "pythonhosted" + ".org"
        self.assertEqual(check_words.breaches_in(f"one\nget https://{host}/x", "dev"),
                         [f"dev:2: a package registry's host name: {host[6:]}"])

    def test_a_machines_path_is_found(self):
        for path in ("/" + "root/x", "/" + "home/ann/x", "/" + "work/main"):
            self.assertEqual(len(check_words.breaches_in(f"cd {path}", "a.md")), 1, path)

    def test_what_only_looks_like_one_is_not(self):
        for line in ("the Debian 12 package", "${sourceDir}/root/x", "a/work/b", "$HOME/home/x"):
            self.assertEqual(check_words.breaches_in(line, "a.md"), [], line)


if __name__ == "__main__":
    unittest.main()
