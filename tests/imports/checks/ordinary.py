"""Names that people really have, in many scripts and forms: nothing is odd about them."""

NAMES = """\
José María de la Cruz
Nguyễn Thị Minh Khai
O'Brien
O’Brien
Jean-Luc
van der Berg
d'Artagnan
de' Medici
Ní Bhraonáin
ben Yehuda
al-Ḥasan
محمد علي
نور الدين
عبد الرحمن
مُحَمَّد
علی‌رضا
می‌لاد رضایی
نیلوفر‌سادات
שרה כהן
שָׂרָה כֹּהֵן
יוֹסִי
עו״ד כהן
ז׳בוטינסקי
क्‍षितिज
फ़िरोज़
राजेश कुमार
ज़ोया
രാജന്‍
മോഹൻലാൽ
র‍্যাব
রহমান
ශ්‍රී ලංකා
தமிழ்செல்வி
ಶ್ರೀನಿವಾಸ್
గోపాల్
ਸਿੰਘ
ગાંધી
山田 太郎
山田　太郎
佐々木 神﨑
塚本 神
ジェームズ・ボンド
ﾔﾏﾀﾞ ﾀﾛｳ
김민준
王小明
欧阳 修
李Jenny
Łukasz Żółć
Ştefan Țurcanu
Ömer Çelik
İbrahim Işık
Þórður Guðmundsdóttir
Bjørn Ångström
Ærø Œuvre
Dvořák
Ελένη Παπαδοπούλου
Γιώργος
Юлия Щербакова
Олена Ґалаґан
Ђорђе Његош
Мар'яна
Հայկ Պետրոսյան
ნინო ბერიძე
อภิสิทธิ์ เวชชาชีวะ
မောင်မောင်
សុខ ចាន់
ລາວ
ཚེ་རིང
አበበ ቢቂላ
ᏣᎳᎩ
ᥱᥲᥴ
Ngũgĩ wa Thiong'o
Kaʻahumanu
Hawaiʻi
Māori Tāne
N!xau ǂToma
Ọlábísí
Sinéad "Shin" Ní Riain
Dr. med. Müller-Lüdenscheidt
Anna (Berlin)
J. R. R. Tolkien
Mary Ann 2nd
X Æ A-12
Müller & Söhne GmbH
BMW AG
IKEA
3M
José ❤️
👨‍👩‍👧 Family Lee
Scotland 🏴󠁧󠁢󠁳󠁣󠁴󠁿 Yard
1️⃣ Ana
CAFÉ’S Ana
NA
Nan
None-Ling
Christopher Null
Nil Ashton
True Thompson
Infinity Ward
Unknown Artist
Anonymous Coward
Deleted Scenes
AT&T
C&A
P!nk
Ke$ha
MÓŁ
ŘÍŠE
André®
Raül·la
Вікторія Ґудзь
Аўсюкевіч
S/O Ram
24/7 Locksmith
Bo
B
Ö
""".splitlines()
